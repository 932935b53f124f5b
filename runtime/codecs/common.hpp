#pragma once

#include <string>

#include <c10/core/ScalarType.h>

/// What codecs have in common.
namespace fewbit::codecs {

/// "1 bit", "3 bits".
inline std::string bits_text(int bits) {
  return std::to_string(bits) + (bits == 1 ? " bit" : " bits");
}

/// The types that are coded in few bits.
inline bool is_real(at::ScalarType type) {
  return type == at::kFloat || type == at::kBFloat16 || type == at::kHalf || type == at::kDouble;
}

}  // namespace fewbit::codecs
