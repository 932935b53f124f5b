#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/half.hpp"

namespace fewbit::kernels {

/// The bits of the value of bf16 or f16 nearest to y, of two the even one; y is no NaN.
inline uint16_t nearest_half(ElementType type, double y) {
  const auto value = [type](int bits) {
    return static_cast<double>(float_from_half(type, static_cast<uint16_t>(bits)));
  };
  const double magnitude = std::fabs(y);
  int below = 0;  // the largest not above |y|
  for (int bit = 0x4000; bit != 0; bit /= 2) {
    if (value(below + bit) <= magnitude) below += bit;
  }
  const double rest = magnitude - value(below);
  const double next = value(below + 1);
  const double gap = std::isinf(next) ? value(below) - value(below - 1) : next - value(below);
  if (rest > gap / 2 || (rest == gap / 2 && below % 2 == 1)) ++below;
  return static_cast<uint16_t>(below | (std::signbit(y) ? 0x8000 : 0));
}

}  // namespace fewbit::kernels
