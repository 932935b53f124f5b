#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include <ATen/core/Tensor.h>
#include <c10/util/accumulate.h>

#include "ops/layout.hpp"

/// What codecs have in common.
namespace fewbit::codecs {

/// The elements of a dense tensor in the order of memory.
inline at::Tensor flat(const at::Tensor& x) {
  return ops::seen_as(x, {x.numel()}, {1});
}

/// The rows of a dense tensor, one for each index of dimension 0, in the order of its memory.
class Rows {
 public:
  Rows(at::IntArrayRef sizes, at::IntArrayRef strides) : count_(sizes.empty() ? 1 : sizes[0]) {
    length_ = c10::multiply_integers(sizes) / std::max<int64_t>(count_, 1);
    int64_t last = 0;  // element's place: of dense tensors that of the last of all
    for (size_t i = 0; i < sizes.size(); ++i) last += (sizes[i] - 1) * strides[i];
    are_outermost_ = !sizes.empty() && length_ > 0 && last + 1 == elements() &&
                     (count_ == 1 || strides[0] == length_);
  }
  explicit Rows(const at::Tensor& x) : Rows(x.sizes(), x.strides()) {}

  int64_t elements() const { return count_ * length_; }
  /// Whether each is one run of elements.
  bool are_outermost() const { return are_outermost_; }
  /// The element that it begins with.
  int64_t begin(int64_t row) const { return row * length_; }
  /// [first, last) of those that hold elements [begin, end).
  std::pair<int64_t, int64_t> holding(int64_t begin, int64_t end) const {
    return {begin / length_, std::min((end + length_ - 1) / length_, count_)};
  }

 private:
  int64_t count_;
  int64_t length_ = 0;
  bool are_outermost_ = false;
};

/// The types that are coded in few bits.
inline bool is_real(at::ScalarType type) {
  return type == at::kFloat || type == at::kBFloat16 || type == at::kHalf || type == at::kDouble;
}

/// The greatest finite number of one of these types.
inline double largest_of(at::ScalarType type) {
  switch (type) {
    case at::kBFloat16:
      return std::numeric_limits<at::BFloat16>::max();
    case at::kHalf:
      return std::numeric_limits<at::Half>::max();
    case at::kDouble:
      return std::numeric_limits<double>::max();
    default:
      return std::numeric_limits<float>::max();
  }
}

}  // namespace fewbit::codecs
