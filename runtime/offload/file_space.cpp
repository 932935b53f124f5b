#include "offload/file_space.hpp"

#include <algorithm>
#include <iterator>

namespace fewbit::offload {

/// So that no two share a page of the file.
int64_t FileSpace::whole_pages(int64_t bytes) {
  constexpr int64_t kPage = 4096;
  return (bytes + kPage - 1) / kPage * kPage;
}

int64_t FileSpace::take(int64_t bytes) {
  bytes = whole_pages(bytes);
  taken_ += bytes;
  const auto gap = std::ranges::find_if(free_, [&](const auto& g) { return g.second >= bytes; });
  if (gap == free_.end()) {
    end_ += bytes;
    return end_ - bytes;
  }
  const auto [offset, size] = *gap;
  free_.erase(gap);
  if (size > bytes) free_.emplace(offset + bytes, size - bytes);
  return offset;
}

void FileSpace::give_back(int64_t offset, int64_t bytes) {
  bytes = whole_pages(bytes);
  taken_ -= bytes;
  auto gap = free_.emplace(offset, bytes).first;
  if (const auto next = std::next(gap); next != free_.end() && next->first == offset + bytes) {
    gap->second += next->second;
    free_.erase(next);
  }
  if (gap != free_.begin()) {
    const auto before = std::prev(gap);
    if (before->first + before->second == offset) {
      before->second += gap->second;
      free_.erase(gap);
      gap = before;
    }
  }
  if (gap->first + gap->second == end_) {
    end_ = gap->first;
    free_.erase(gap);
  }
}

}  // namespace fewbit::offload
