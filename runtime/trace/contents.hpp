#pragma once

#include <cstdint>
#include <optional>

#include <ATen/core/Tensor.h>

#include "trace/running_operations.hpp"

namespace fewbit::session {

/// Tells contents apart that changed behind the version's back, as those through data() or the
/// parts of unsafe_chunk: by 128 places, so that a change of a tenth of all is seen but for one in
/// a million. At least 8 bytes. Of a device that would have to be waited for: always 0.
std::uint64_t sample_of(const at::Tensor& run);

/// Tells whether any element changed, but for one change in 2^64. 0 where the device would
/// have to be waited for.
std::uint64_t fingerprint_of(const at::Tensor& tensor);

/// Whether few bits would gain nothing on it.
bool is_too_small(const at::Tensor& tensor);

/// Whether it is stored in few bits at all, and its elements are all that lies between its ends.
bool may_be_followed(const at::Tensor& tensor);

/// Elements of a memory, as they were.
class Contents {
 public:
  /// That the tensor shows, which may be followed.
  explicit Contents(const at::Tensor& run);

  const void* memory() const { return memory_.address(); }
  bool is_gone() const { return memory_.owner.expired(); }
  std::int64_t version() const { return version_; }
  std::int64_t count() const { return count_; }

  /// Of these, which the tensor's first element is, a tensor of the same memory; nothing where it
  /// shows others too, or they are not as they were.
  std::optional<std::int64_t> place_of(const at::Tensor& tensor) const;

 private:
  Memory memory_;
  std::int64_t version_;
  std::int64_t offset_;
  std::int64_t count_;
  at::ScalarType type_;
  std::uint64_t sample_;
};

}  // namespace fewbit::session
