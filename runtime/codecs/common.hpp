#pragma once

#include <string>

#include <ATen/core/Tensor.h>

/// What codecs have in common.
namespace fewbit::codecs {

/// "1 bit", "3 bits".
inline std::string bits_text(int bits) {
  return std::to_string(bits) + (bits == 1 ? " bit" : " bits");
}

/// The elements of a dense tensor in the order of memory.
inline at::Tensor flat(const at::Tensor& x) {
  return x.as_strided({x.numel()}, {1});
}

/// The types that are coded in few bits.
inline bool is_real(at::ScalarType type) {
  return type == at::kFloat || type == at::kBFloat16 || type == at::kHalf || type == at::kDouble;
}

}  // namespace fewbit::codecs
