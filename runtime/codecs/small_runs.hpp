#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

#include "codecs/codec.hpp"

namespace fewbit::codecs {

class Bundle;
struct BundleKind;

/// Small tensors of a GPU, where a launch costs as much as coding a hundred thousand elements: they
/// wait, as they are, and several are coded by one launch; where one is decoded, the others of that
/// launch are decoded with it, and are kept until they are asked for. Codes and elements are those
/// of each by itself. Of one forward; not to be used by two threads at a time, but what it makes
/// may be.
class SmallRuns {
 public:
  static constexpr int64_t kMostElements = int64_t{1} << 14;   ///< of a small tensor
  static constexpr int64_t kMostTogether = 8 * kMostElements;  ///< of all that wait for a launch
  static constexpr int64_t kMostBytes = int64_t{4} * kMostTogether;  ///< that these take as floats

  /// Whether to have x wait. On a CPU there are no launches, and in a graph they cost little.
  static bool takes(const at::Tensor& x, const RotatedCodes& form);

  /// x, which is held until it is coded: once as many of its form, type and stream are there as a
  /// launch takes, by settle, or where it is decoded. What is decoded throws c10::Error where x was
  /// changed in place before, as autograd does of what it saves.
  std::shared_ptr<const Encoded> encode(const RotatedCodes& form, const at::Tensor& x,
                                        const RandomStream& random);

  bool is_empty() const { return kinds_.empty(); }
  /// Whether a tensor in the memory of x waits.
  bool holds_memory_of(const at::Tensor& x) const;
  /// Codes all that waits.
  void settle();

 private:
  /// Of one kind, those that wait.
  struct Open {
    std::shared_ptr<BundleKind> kind;
    std::shared_ptr<Bundle> bundle;
  };
  std::vector<Open> kinds_;
};

}  // namespace fewbit::codecs
