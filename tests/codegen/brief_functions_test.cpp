// Every function's values for 16-bit results: all 65,536 inputs of both types, default parameters
// and others, within one unit of the correctly rounded value however the device approximates.
#include <array>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/codegen/device_errors.hpp"
#include "tests/support/nearest_half.hpp"

namespace fewbit {

namespace {

using kernels::ElementType;

constexpr size_t kMostParameters = 2;
using Parameters = std::array<float, kMostParameters>;

/// F(x, parameters...).
template <auto F, class Real, class... Parameter, size_t... I>
Real call(Real (*)(Real, Parameter...), std::index_sequence<I...>, Real x,
          [[maybe_unused]] const Parameters& parameters) {
  return F(x, static_cast<Real>(parameters[I])...);
}

template <class Real, class... Parameter>
constexpr std::index_sequence_for<Parameter...> indices_of(Real (*)(Real, Parameter...)) {
  return {};
}

template <auto F, class Real>
Real at(Real x, const Parameters& parameters) {
  return call<F>(F, indices_of(F), x, parameters);
}

struct Case {
  std::string name;
  Parameters defaults;
  float (*brief)(float, const Parameters&);
  double (*wide)(double, const Parameters&);
};

void PrintTo(const Case& function, std::ostream* out) {
  *out << function.name;
}

#define FEWBIT_FUNCTION(name, ...)                                                     \
  Case{#name, Parameters{__VA_ARGS__}, &at<&generated::name::brief_activation, float>, \
       &at<&generated::name::wide_activation, double>},
const Case kCases[] = {
#include "generated/registry.inc"
};

/// f(x) in double; the difference x - tanh(x) as its series where it would cancel.
double exact(const Case& function, double x, const Parameters& parameters) {
  if (function.name != "tanhshrink" || std::fabs(x) > 0.03) return function.wide(x, parameters);
  const double s = x * x;
  return x * s * (1.0 / 3 - s * (2.0 / 15 - s * (17.0 / 315 - s * 62.0 / 2835)));
}

/// Counts up with the value; both zeros are 0.
int ordinal(uint16_t half) {
  const int magnitude = half & 0x7FFF;
  return half > 0x7FFF ? -magnitude : magnitude;
}

class BriefFunction : public testing::TestWithParam<Case> {
 protected:
  void expect_near(ElementType type, const Parameters& parameters) const {
    for (int bits = 0; bits < 0x10000; ++bits) {
      const float x = kernels::float_from_half(type, static_cast<uint16_t>(bits));
      if (std::isnan(x)) continue;
      const double expected = exact(GetParam(), static_cast<double>(x), parameters);
      const int nearest = ordinal(kernels::nearest_half(type, expected));
      const int allowed = std::isinf(x) ? 0 : 1;
      for (const test::DeviceErrors& errors : test::kDeviceErrors) {
        test::device_errors = errors;
        const float y = GetParam().brief(x, parameters);
        const int distance = ordinal(kernels::half_from_float(type, y)) - nearest;
        ASSERT_LE(std::abs(distance), allowed)
            << GetParam().name << '(' << x << ") = " << y << ", not " << expected << ", parameters "
            << parameters[0] << ' ' << parameters[1];
      }
    }
  }

  void expect_near_for_some_parameters(ElementType type) const {
    const std::pair<float, float> changes[] = {{1.0f, 0.0f}, {0.6f, 0.0f}, {1.7f, 0.1f}};
    for (const auto& [factor, added] : changes) {
      Parameters parameters = GetParam().defaults;
      for (float& parameter : parameters) parameter = factor * parameter + added;
      expect_near(type, parameters);
    }
  }
};

TEST_P(BriefFunction, IsWithinOneUnitForEveryBfloat16) {
  expect_near_for_some_parameters(ElementType::bf16);
}

TEST_P(BriefFunction, IsWithinOneUnitForEveryHalf) {
  expect_near_for_some_parameters(ElementType::f16);
}

TEST_P(BriefFunction, KeepsNan) {
  EXPECT_TRUE(std::isnan(GetParam().brief(NAN, GetParam().defaults)));
}

INSTANTIATE_TEST_SUITE_P(Registry, BriefFunction, testing::ValuesIn(kCases),
                         [](const auto& function) { return function.param.name; });

}  // namespace

}  // namespace fewbit
