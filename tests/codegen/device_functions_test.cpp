// Every function's values on a device, those of users' functions too, however it approximates. For
// 16-bit results: all 65,536 inputs of both types, default parameters and others, within one unit
// of the correctly rounded value. For float: those inputs with default parameters; accuracy_test
// has the floats between.
#include <array>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/codegen/device_errors.hpp"
#include "tests/support/allowed_error.hpp"
#include "tests/support/nearest_half.hpp"

namespace fewbit::device_functions_test {

using kernels::ElementType;

constexpr size_t kMostParameters = 2;
using Parameters = std::array<double, kMostParameters>;

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
  float (*warp)(float, const Parameters&);
  double (*wide)(double, const Parameters&);
  bool has_limits = true;  ///< at infinity
  double error = 1.0;      ///< of what is allowed
};

void PrintTo(const Case& function, std::ostream* out) {
  *out << function.name;
}

#define FEWBIT_FUNCTION(name, ...)                                                     \
  Case{#name, Parameters{__VA_ARGS__}, &at<&generated::name::brief_activation, float>, \
       &at<&generated::name::warp_activation, float>,                                  \
       &at<&generated::name::wide_activation, double>},
const Case kCases[] = {
#include "generated/registry.inc"
};

#define OWN_CASE(name, expression, has_limits)         \
  Case{#name,                                          \
       Parameters{},                                   \
       &at<&generated::name::brief_activation, float>, \
       &at<&generated::name::warp_activation, float>,  \
       &at<&generated::name::wide_activation, double>, \
       has_limits,                                     \
       test::kOwnError},
const Case kOwnCases[] = {FEWBIT_OWN_FUNCTIONS(OWN_CASE)};
#undef OWN_CASE

/// Counts up with the value; both zeros are 0.
int ordinal(uint16_t half) {
  const int magnitude = half & 0x7FFF;
  return half > 0x7FFF ? -magnitude : magnitude;
}

class DeviceFunction : public testing::TestWithParam<Case> {
 protected:
  void expect_brief_near(ElementType type, const Parameters& parameters) const {
    for (int bits = 0; bits < 0x10000; ++bits) {
      const float x = kernels::float_from_half(type, static_cast<uint16_t>(bits));
      if (std::isnan(x) || (std::isinf(x) && !GetParam().has_limits)) continue;
      const double expected = GetParam().wide(static_cast<double>(x), parameters);
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

  void expect_brief_near_for_some_parameters(ElementType type) const {
    const std::pair<float, float> changes[] = {{1.0f, 0.0f}, {0.6f, 0.0f}, {1.7f, 0.1f}};
    for (const auto& [factor, added] : changes) {
      Parameters parameters = GetParam().defaults;
      for (double& parameter : parameters) parameter = factor * parameter + added;
      expect_brief_near(type, parameters);
    }
  }

  void expect_allowed(ElementType type) const {
    const Parameters& parameters = GetParam().defaults;
    for (int bits = 0; bits < 0x10000; ++bits) {
      const float x = kernels::float_from_half(type, static_cast<uint16_t>(bits));
      if (std::isnan(x) || (std::isinf(x) && !GetParam().has_limits)) continue;
      const double expected = GetParam().wide(static_cast<double>(x), parameters);
      for (const test::DeviceErrors& errors : test::kDeviceErrors) {
        test::device_errors = errors;
        const auto y = static_cast<double>(GetParam().warp(x, parameters));
        if (y == expected || std::fabs(expected) > 3.4e38) continue;
        ASSERT_LE(std::fabs(y - expected),
                  GetParam().error * allowed_error(expected, static_cast<double>(x)))
            << GetParam().name << '(' << x << ") = " << y << ", not " << expected;
      }
    }
  }
};

TEST_P(DeviceFunction, RoundsWithinOneUnitForEveryBfloat16) {
  expect_brief_near_for_some_parameters(ElementType::bf16);
}

TEST_P(DeviceFunction, RoundsWithinOneUnitForEveryHalf) {
  expect_brief_near_for_some_parameters(ElementType::f16);
}

TEST_P(DeviceFunction, IsAccurateForEveryBfloat16) {
  expect_allowed(ElementType::bf16);
}

TEST_P(DeviceFunction, IsAccurateForEveryHalf) {
  expect_allowed(ElementType::f16);
}

TEST_P(DeviceFunction, KeepsNan) {
  EXPECT_TRUE(std::isnan(GetParam().brief(NAN, GetParam().defaults)));
  EXPECT_TRUE(std::isnan(GetParam().warp(NAN, GetParam().defaults)));
}

INSTANTIATE_TEST_SUITE_P(Own, DeviceFunction, testing::ValuesIn(kOwnCases),
                         [](const auto& function) { return function.param.name; });
INSTANTIATE_TEST_SUITE_P(Registry, DeviceFunction, testing::ValuesIn(kCases),
                         [](const auto& function) { return function.param.name; });

}  // namespace fewbit::device_functions_test
