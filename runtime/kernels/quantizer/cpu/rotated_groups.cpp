#include "kernels/quantizer/cpu/rotated_groups.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "generated/normal_quantizer.hpp"
#include "generated/trellis_quantizer.hpp"
#include "kernels/half.hpp"
#include "kernels/quantizer/cpu/wide_element.hpp"
#include "kernels/quantizer/group_factor.hpp"

namespace fewbit::kernels {

namespace {

constexpr uint16_t kGreatestBf16 = 0x7F7F;

/// To bf16, and not to an infinity.
uint16_t finite_bf16(double value) {
  const uint16_t rounded = bf16_from_float(static_cast<float>(value));
  const bool is_infinite = (rounded & 0x7FFF) == 0x7F80;
  if (!is_infinite) return rounded;
  return static_cast<uint16_t>(kGreatestBf16 | (rounded & 0x8000));
}

}  // namespace

void put_constants(ElementType type, const RotatedConstants& constants, const uint32_t* signs,
                   void* to) {
  double mean = constants.mean;
  double factor = constants.factor;
  if (constants.exponent != 0) {
    mean = std::ldexp(mean, constants.exponent);
    factor = std::ldexp(factor, constants.exponent);
  }
  if (type == ElementType::f64) {
    const double both[2] = {mean, factor};
    std::memcpy(to, both, sizeof both);
  } else {
    const uint16_t both[2] = {
        finite_bf16(mean),
        factor_at_random(static_cast<float>(factor), word_of_signs(signs[0], signs[1]))};
    std::memcpy(to, both, sizeof both);
  }
}

RotatedConstants constants_of(ElementType type, const void* from) {
  if (type != ElementType::f64) {
    uint16_t both[2];
    std::memcpy(both, from, sizeof both);
    return {float_from_bf16(both[0]), kept_factor(both[1]), 0};
  }
  double both[2];
  std::memcpy(both, from, sizeof both);
  const double greatest = std::max(std::fabs(both[0]), std::fabs(both[1]));
  // Where floats hold them, and what a group of levels makes of them, as they are.
  const bool is_plain = !(greatest < 0x1p-60 || greatest > 0x1p60);
  const int exponent = is_plain || greatest == 0.0 ? 0 : std::ilogb(greatest);
  return {static_cast<float>(std::ldexp(both[0], -exponent)),
          static_cast<float>(std::ldexp(both[1], -exponent)), exponent};
}

std::optional<int> scaled_elements(ElementType type, const void* from, int64_t count, int64_t group,
                                   float* to) {
  double greatest = 0.0;
  for (int64_t i = 0; i < count; ++i) {
    const double size = std::fabs(wide_element(type, from, i));
    if (!std::isfinite(size)) return std::nullopt;
    greatest = std::max(greatest, size);
  }
  const int exponent = greatest == 0.0 ? 0 : std::ilogb(greatest);
  for (int64_t i = 0; i < count; ++i) {
    to[i] = static_cast<float>(std::ldexp(wide_element(type, from, i), -exponent));
  }
  std::fill(to + count, to + group, 0.0f);
  return exponent;
}

void store_scaled(const float* x, int64_t count, int exponent, void* to) {
  constexpr double kMost = std::numeric_limits<double>::max();
  for (int64_t i = 0; i < count; ++i) {
    double value = std::ldexp(static_cast<double>(x[i]), exponent);
    if (std::isinf(value)) value = std::copysign(kMost, value);
    std::memcpy(static_cast<uint8_t*>(to) + 8 * i, &value, 8);
  }
}

double rotated_error(int bits, int states) {
  const double error = states == 0 ? generated::normal_quantizer(bits).error
                                   : generated::trellis_quantizer(bits, states).error;
  return error / (1.0 - error);
}

}  // namespace fewbit::kernels
