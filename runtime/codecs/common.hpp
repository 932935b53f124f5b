#pragma once

#include <limits>
#include <string>

#include <ATen/core/Tensor.h>

/// What codecs have in common.
namespace fewbit::codecs {

/// The elements of a dense tensor in the order of memory.
inline at::Tensor flat(const at::Tensor& x) {
  return x.as_strided({x.numel()}, {1});
}

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
