// The committed function code, and that of functions as users write them, against the expression in
// double: at most 2 ulp of the result or 2^-24 max(1, |x|) off, whichever is larger, for a device
// however it approximates. All values of both 16-bit types, floats at a stride, and every float
// near a kink.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "expression/derivative.hpp"
#include "expression/evaluate.hpp"
#include "functions/registry.hpp"
#include "tests/codegen/device_errors.hpp"
#include "tests/support/allowed_error.hpp"
#include "tests/support/at_float.hpp"

namespace fewbit::accuracy_test {

namespace math = generated::math;
using solver::Derivative;
using solver::Expression;

struct Case {
  const char* name;
  float (*activation)(float);
  float (*warp)(float);
  float (*derivative)(float);
  const char* expression = nullptr;  ///< of a function that is not in the registry
  bool has_limits = true;            ///< at infinity
};

void PrintTo(const Case& function, std::ostream* out) {
  *out << function.name;
}

#define AT_FLOAT(name, function, ...) \
  [](float x) { return test::at_float<&generated::name::function>(x __VA_OPT__(, ) __VA_ARGS__); }
#define FEWBIT_FUNCTION(name, ...)                                   \
  Case{#name, AT_FLOAT(name, activation __VA_OPT__(, ) __VA_ARGS__), \
       AT_FLOAT(name, warp_activation __VA_OPT__(, ) __VA_ARGS__),   \
       AT_FLOAT(name, derivative __VA_OPT__(, ) __VA_ARGS__)},
const Case kCases[] = {
#include "generated/registry.inc"
};

#define OWN_CASE(name, expression, has_limits) \
  Case{#name,                                  \
       generated::name::activation,            \
       generated::name::warp_activation,       \
       generated::name::derivative,            \
       expression,                             \
       has_limits},
const Case kOwnCases[] = {FEWBIT_OWN_FUNCTIONS(OWN_CASE)};
#undef OWN_CASE

/// The function with its parameters as float has them.
Expression reference(const Case& function) {
  solver::FunctionSpec spec = function.expression != nullptr
                                  ? solver::custom_function(function.name, function.expression)
                                  : solver::parse_function(function.name);
  for (auto& [parameter, value] : spec.parameters) value = static_cast<float>(value);
  return solver::expression_of(spec);
}

/// Error in units of what is allowed.
double excess(float actual, double expected, double x) {
  const double error = std::fabs(static_cast<double>(actual) - expected);
  return std::isnan(error) ? INFINITY : error / allowed_error(expected, x);
}

class Worst {
 public:
  Worst(const Case& function, const Expression& f, const Derivative& slope)
      : function_(function), f_(f), slope_(slope) {}

  void try_at(float x) {
    if (!(std::fabs(x) <= 10.0f)) return;
    const double exact = static_cast<double>(x);
    const double expected = f_.evaluate(exact);
    note(value_, value_at_, excess(function_.activation(x), expected, exact), x);
    for (const test::DeviceErrors& errors : test::kDeviceErrors) {
      test::device_errors = errors;
      note(device_, device_at_, excess(function_.warp(x), expected, exact), x);
    }
    note(slope_error_, slope_at_, excess(function_.derivative(x), slope_.value(exact), exact), x);
  }

  void try_at_bits(uint32_t bits) { try_at(math::from_bits(bits)); }

  void expect_allowed() const {
    const double allowed = function_.expression == nullptr ? 1.0 : test::kOwnError;
    EXPECT_LE(value_, allowed) << "f at x = " << value_at_;
    EXPECT_LE(device_, allowed) << "f on a device at x = " << device_at_;
    EXPECT_LE(slope_error_, allowed) << "f' at x = " << slope_at_;
  }

 private:
  static void note(double& worst, float& at, double error, float x) {
    if (error <= worst) return;
    worst = error;
    at = x;
  }

  const Case& function_;
  const Expression& f_;
  const Derivative& slope_;
  double value_ = 0.0;
  double device_ = 0.0;
  double slope_error_ = 0.0;
  float value_at_ = 0.0f;
  float device_at_ = 0.0f;
  float slope_at_ = 0.0f;
};

float from_half(uint32_t bits) {
  const float magnitude = (bits & 0x7c00u) == 0
                              ? std::ldexp(static_cast<float>(bits & 0x3ffu), -24)
                              : std::ldexp(static_cast<float>(0x400u | (bits & 0x3ffu)),
                                           static_cast<int>((bits & 0x7c00u) >> 10) - 25);
  return (bits & 0x8000u) != 0 ? -magnitude : magnitude;
}

class FunctionCode : public testing::TestWithParam<Case> {
 protected:
  Expression f_ = reference(GetParam());
  Derivative slope_{f_, -10.0, 10.0};
  Worst worst_{GetParam(), f_, slope_};
};

TEST_P(FunctionCode, IsAccurateForEveryBfloat16) {
  for (uint32_t bits = 0; bits < 0x10000u; ++bits) worst_.try_at_bits(bits << 16);
  worst_.expect_allowed();
}

TEST_P(FunctionCode, IsAccurateForEveryHalf) {
  for (uint32_t bits = 0; bits < 0x10000u; ++bits) {
    if ((bits & 0x7c00u) != 0x7c00u) worst_.try_at(from_half(bits));
  }
  worst_.expect_allowed();
}

TEST_P(FunctionCode, IsAccurateForFloatsAtAStride) {
  constexpr uint32_t kTen = 0x41200000u;
  constexpr uint32_t kSmall = 0x39800000u;  // 2^-12: below it every function is nearly linear
  for (uint32_t bits = 0; bits < kTen; bits += bits < kSmall ? 9973 : 97) {
    worst_.try_at_bits(bits);
    worst_.try_at_bits(bits | 0x80000000u);
  }
  worst_.expect_allowed();
}

TEST_P(FunctionCode, IsAccurateAroundEveryKink) {
  std::vector<double> places = slope_.borders();
  places.push_back(0.0);
  for (const double place : places) {
    const float center = static_cast<float>(place);
    float above = center;
    float below = center;
    for (int i = 0; i < 2000; ++i) {
      worst_.try_at(above);
      worst_.try_at(below);
      above = std::nextafter(above, INFINITY);
      below = std::nextafter(below, -INFINITY);
    }
  }
  worst_.expect_allowed();
}

TEST_P(FunctionCode, KeepsNan) {
  EXPECT_TRUE(std::isnan(GetParam().activation(NAN)));
  EXPECT_TRUE(std::isnan(GetParam().derivative(NAN)));
}

class FunctionLimits : public FunctionCode {};

TEST_P(FunctionLimits, AreReachedAtInfinity) {
  for (const float side : {-1.0f, 1.0f}) {
    const double far = static_cast<double>(side) * 0x1p+40;
    const double limit = f_.evaluate(far);
    for (const auto value : {GetParam().activation, GetParam().warp}) {
      const float y = value(side * INFINITY);
      if (std::fabs(limit) > 1e9) {
        EXPECT_EQ(y, limit > 0.0 ? INFINITY : -INFINITY);
      } else {
        EXPECT_NEAR(static_cast<double>(y), limit, 1e-6);
      }
    }
    const float slope = GetParam().derivative(side * INFINITY);
    EXPECT_FALSE(std::isnan(slope));
    if (std::isfinite(slope)) {
      EXPECT_NEAR(static_cast<double>(slope), slope_.value(static_cast<double>(side) * 10.0), 0.02);
    }
  }
}

std::vector<Case> own_cases_with_limits() {
  std::vector<Case> cases;
  for (const Case& function : kOwnCases) {
    if (function.has_limits) cases.push_back(function);
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Own, FunctionLimits, testing::ValuesIn(own_cases_with_limits()),
                         [](const auto& function) { return std::string(function.param.name); });
INSTANTIATE_TEST_SUITE_P(Registry, FunctionLimits, testing::ValuesIn(kCases),
                         [](const auto& function) { return std::string(function.param.name); });
INSTANTIATE_TEST_SUITE_P(Own, FunctionCode, testing::ValuesIn(kOwnCases),
                         [](const auto& function) { return std::string(function.param.name); });
INSTANTIATE_TEST_SUITE_P(Registry, FunctionCode, testing::ValuesIn(kCases),
                         [](const auto& function) { return std::string(function.param.name); });

}  // namespace fewbit::accuracy_test
