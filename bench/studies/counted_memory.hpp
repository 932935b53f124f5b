#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include <c10/core/Allocator.h>

namespace fewbit::bench {

/// The tensors' memory of all threads: in the place of libtorch's own allocator for a CPU, in which
/// other threads let go of what one has taken. What libraries allocate for themselves, as oneDNN
/// its scratch memory, does not count.
class CountedMemory final : public c10::Allocator {
 public:
  static CountedMemory& instance();
  /// From now on for good. Above the limit, bytes, it throws c10::OutOfMemoryError.
  void start(int64_t limit = std::numeric_limits<int64_t>::max());

  c10::DataPtr allocate(size_t count) override;
  c10::DeleterFnPtr raw_deleter() const override { return &free; }
  void copy_data(void* to, const void* from, size_t count) const override;

  /// The most since peak_of began, beyond what there was then.
  int64_t peak() const { return peak_ - before_; }
  bool was_exceeded() const { return was_exceeded_; }

  /// The most bytes at a time while `body` runs, beyond those before it.
  template <class Body>
  int64_t peak_of(const Body& body) {
    before_ = live_;
    peak_ = before_;
    body();
    return peak();
  }

 private:
  static void free(void* data);

  c10::Allocator* inner_ = nullptr;
  int64_t limit_ = 0;
  int64_t before_ = 0;
  std::atomic<int64_t> live_ = 0, peak_ = 0;
  std::atomic<bool> was_exceeded_ = false;
};

}  // namespace fewbit::bench
