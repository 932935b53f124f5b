#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace fewbit {

/// The unit in the last place of a float near `exact`, which is finite; 2^-149 for zero.
inline double float_ulp(double exact) {
  constexpr uint64_t kExponent = 0x7ff0000000000000u;
  const double power = std::bit_cast<double>(std::bit_cast<uint64_t>(exact) & kExponent);
  return std::max(power, 0x1p-126) * 0x1p-23;
}

/// How far a float f(x) or f'(x) of ours may be off: 2 ulp of the exact result or 2^-24 max(1,
/// |x|), whichever is larger.
inline double allowed_error(double exact, double x) {
  return std::max(2.0 * float_ulp(exact), 0x1p-24 * std::max(1.0, std::fabs(x)));
}

}  // namespace fewbit
