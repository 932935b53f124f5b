#include "bench/studies/counted_memory.hpp"

#include <cstring>

#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

namespace fewbit::bench {

namespace {

/// Before each block, which stays aligned: its bytes, since libtorch also frees blocks by their
/// address alone.
constexpr size_t kNote = 64;

}  // namespace

CountedMemory& CountedMemory::instance() {
  static CountedMemory memory;
  return memory;
}

void CountedMemory::start(int64_t limit) {
  inner_ = c10::GetCPUAllocator();
  limit_ = limit;
  c10::SetCPUAllocator(this, /*priority=*/255);
}

c10::DataPtr CountedMemory::allocate(size_t count) {
  const auto bytes = static_cast<int64_t>(count);
  const int64_t now = live_ += bytes;
  if (now > limit_) {
    live_ -= bytes;
    was_exceeded_ = true;
    TORCH_CHECK_WITH(OutOfMemoryError, false, bytes, " bytes more would exceed the limit");
  }
  int64_t most = peak_;
  while (most < now && !peak_.compare_exchange_weak(most, now)) {
  }
  auto* const block = static_cast<uint8_t*>(inner_->raw_allocate(count + kNote));
  std::memcpy(block, &bytes, sizeof bytes);
  return {block + kNote, block + kNote, &free, c10::Device(c10::kCPU)};
}

void CountedMemory::copy_data(void* to, const void* from, size_t count) const {
  std::memcpy(to, from, count);
}

void CountedMemory::free(void* data) {
  CountedMemory& memory = instance();
  auto* const block = static_cast<uint8_t*>(data) - kNote;
  int64_t bytes = 0;
  std::memcpy(&bytes, block, sizeof bytes);
  memory.live_ -= bytes;
  memory.inner_->raw_deallocate(block);
}

}  // namespace fewbit::bench
