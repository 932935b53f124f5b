#include "trace/contents.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace fewbit::session {

namespace {

/// Below this a group's constants and our own books would be what is stored.
constexpr int64_t kFewElements = 1024;

/// Where the tensor's elements lie in its memory: the first, and behind the last.
std::pair<int64_t, int64_t> span_of(const at::Tensor& tensor) {
  int64_t last = tensor.storage_offset();
  for (int64_t i = 0; i < tensor.dim(); ++i) last += (tensor.size(i) - 1) * tensor.stride(i);
  return {tensor.storage_offset(), last + 1};
}

}  // namespace

namespace {

uint64_t sample_of(const uint8_t* bytes, size_t count) {
  constexpr uint64_t kPlaces = 128, kGolden = 0x9E3779B97F4A7C15u;
  const auto last = static_cast<double>(count - sizeof(uint64_t));
  uint64_t sample = 0, place = 0;
  for (uint64_t i = 0; i < kPlaces; ++i) {
    place += kGolden;  // whose multiples meet rows and columns of any shape
    const auto at = static_cast<uint64_t>(static_cast<double>(place) * 0x1p-64 * last);
    uint64_t word = 0;
    std::memcpy(&word, bytes + at, sizeof word);
    sample = (sample ^ word) * kGolden;
  }
  return sample;
}

}  // namespace

uint64_t sample_of(const at::Tensor& run) {
  if (!run.device().is_cpu()) return 0;
  return sample_of(static_cast<const uint8_t*>(run.const_data_ptr()), run.nbytes());
}

uint64_t fingerprint_of(const at::Tensor& tensor) {
  if (!tensor.device().is_cpu()) return 0;
  if (!tensor.is_non_overlapping_and_dense()) return fingerprint_of(tensor.contiguous());
  // Four chains, so that a multiplication need not wait for the one before.
  constexpr uint64_t kGolden = 0x9E3779B97F4A7C15u;
  constexpr size_t kChains = 4;
  const auto* bytes = static_cast<const uint8_t*>(tensor.const_data_ptr());
  const size_t count = tensor.nbytes();
  std::array<uint64_t, kChains> chains = {1, 2, 3, 4};
  constexpr size_t kStep = sizeof chains;
  for (size_t at = 0; at < count; at += kStep) {
    std::array<uint64_t, kChains> words = {};
    std::memcpy(words.data(), bytes + at, std::min(kStep, count - at));
    for (size_t i = 0; i < kChains; ++i) {
      chains[i] = (chains[i] ^ words[i]) * kGolden;
      chains[i] ^= chains[i] >> 32;
    }
  }
  uint64_t all = 0;
  for (const uint64_t chain : chains) all = (all ^ chain) * kGolden;
  return all;
}

bool is_too_small(const at::Tensor& tensor) {
  return tensor.numel() < kFewElements;
}

bool may_be_followed(const at::Tensor& tensor) {
  return tensor.has_storage() && !is_too_small(tensor) && tensor.is_non_overlapping_and_dense();
}

Contents::Contents(const at::Tensor& run)
    : memory_(memory_of(run)),
      version_(run._version()),
      offset_(run.storage_offset()),
      count_(run.numel()),
      type_(run.scalar_type()),
      sample_(sample_of(run)) {}

std::optional<int64_t> Contents::place_of(const at::Tensor& tensor) const {
  if (version_ != tensor._version() || type_ != tensor.scalar_type()) return std::nullopt;
  const auto [first, last] = span_of(tensor);
  if (first < offset_ || last > offset_ + count_) return std::nullopt;
  if (tensor.device().is_cpu()) {
    const auto* all = static_cast<const uint8_t*>(tensor.storage().data());
    const auto size = static_cast<size_t>(tensor.element_size());
    const size_t begin = static_cast<size_t>(offset_) * size,
                 count = static_cast<size_t>(count_) * size;
    if (sample_of(all + begin, count) != sample_) return std::nullopt;
  }
  return first - offset_;
}

}  // namespace fewbit::session
