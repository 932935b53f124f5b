#pragma once

#include "kernels/activation/cpu/encode_plan.hpp"
#include "kernels/activation/cpu/fitted.hpp"

namespace fewbit::kernels {

/// What a loop over floats does: values by a fit and, where they fit in with them, codes.
struct FloatPlan {
  const Fitted* fit = nullptr;
  int bits = 0;        ///< of the codes that the loop finds, 0 where it finds none
  int flip_count = 0;  ///< of one-bit codes: thresholds at which the code changes
  float flips[2] = {};

  /// Takes the codes along, unless they have too many thresholds; whether it did.
  bool take_codes(const EncodePlan& encode, int code_bits) {
    if (code_bits > 1 ? encode.grid.per_cell != 1 : !take_flips(encode)) return false;
    bits = code_bits;
    return true;
  }

 private:
  bool take_flips(const EncodePlan& encode) {
    const int most = std::holds_alternative<Lines>(*fit) ? 2 : 1;
    for (int t = 0; t < encode.threshold_count; ++t) {
      if (encode.codes[t] == encode.codes[t + 1]) continue;
      if (flip_count == most) {
        flip_count = 0;
        return false;
      }
      flips[flip_count++] = encode.thresholds[t];
    }
    return flip_count > 0;
  }
};

}  // namespace fewbit::kernels
