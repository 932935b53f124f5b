#include "codegen/guards.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fewbit::codegen {

namespace {

float find_bound(const Formula& formula, int result, float side) {
  const float infinite = side * std::numeric_limits<float>::infinity();
  const float largest = side * std::numeric_limits<float>::max();
  const auto value = [&](float x) { return evaluate(formula, result, x); };
  if (!std::isnan(value(infinite)) && !std::isnan(value(largest))) return 0.0f;
  for (int exponent = 120; exponent >= 20; exponent -= 20) {
    const float bound = std::ldexp(side, exponent);
    const float far = value(bound);
    const float near = value(bound / 16.0f);
    if (std::fabs(far - near) <= 0x1p-19f * std::max(1.0f, std::fabs(far))) return bound;
  }
  return 0.0f;
}

}  // namespace

Guards find_guards(const Formula& formula, int result) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  return {.low = find_bound(formula, result, -1.0f),
          .high = find_bound(formula, result, 1.0f),
          .nan = !std::isnan(evaluate(formula, result, nan))};
}

}  // namespace fewbit::codegen
