// What is fitted to functions gives their values: also where these are small, far out, and beside
// kinks. That all of them are within what is stated, floats_test and halves_test say.

#include <cmath>

#include <gtest/gtest.h>

#include "kernels/activation/cpu/function_kernels.hpp"
#include "tests/kernels/support.hpp"

namespace fewbit::kernels::fitted_test {

const uint8_t kNoCode[] = {0};
constexpr StepView kNoSteps = {1, false, 0, nullptr, kNoCode, 0, nullptr};

std::vector<double> values_of(const char* function, ElementType type,
                              const std::vector<double>& x) {
  return elements(run_forward(*find_activation(function), kNoSteps, type, bytes_of(x, type)).y,
                  type);
}

TEST(Fitted, KeepTheRelativeAccuracyOfSmallValues) {
  for (const char* const name : {"gelu", "silu", "tanh"}) {
    for_each_target([&](int64_t target) {
      const std::vector<double> x = {1e-30, -1e-30, 1e-10, 1e-4, -1e-3};
      const std::vector<double> y = values_of(name, ElementType::f32, x);
      const std::vector<double> exact = values_of(name, ElementType::f64, x);
      for (size_t i = 0; i < x.size(); ++i) {
        EXPECT_NEAR(y[i], exact[i], 3e-7 * std::fabs(exact[i]))
            << name << ' ' << hwy::TargetName(target);
      }
    });
  }
}

TEST(Fitted, KeepTheRelativeAccuracyOfTails) {
  std::vector<double> x;
  for (double at = 0.001; at < 87.0; at *= 1.1) {
    x.push_back(static_cast<double>(static_cast<float>(at)));
    x.push_back(-x.back());
  }
  for (const char* const name : {"sigmoid", "silu", "quick_gelu", "softplus", "logsigmoid"}) {
    const std::vector<double> exact = values_of(name, ElementType::f64, x);
    for_each_target([&](int64_t target) {
      const std::vector<double> y = values_of(name, ElementType::f32, x);
      for (size_t i = 0; i < x.size(); ++i) {
        if (std::fabs(exact[i]) < 0x1p-118) continue;  // near where e^-x is infinite
        EXPECT_NEAR(y[i], exact[i], 1e-5 * std::fabs(exact[i]))
            << name << " at " << x[i] << ' ' << hwy::TargetName(target);
      }
    });
  }
}

TEST(Fitted, AreExactAtZeroAndKeepTheirSignBeyondTheTails) {
  const std::vector<double> x = {0.0, -0.0, -200.0, 200.0, -3e38, 3e38};
  for_each_target([&](int64_t target) {
    EXPECT_EQ(values_of("sigmoid", ElementType::f32, x),
              (std::vector<double>{0.5, 0.5, 0.0, 1.0, 0.0, 1.0}))
        << hwy::TargetName(target);
    const double most = static_cast<double>(3e38f);
    EXPECT_EQ(values_of("softplus", ElementType::f32, {-200.0, 200.0}),
              (std::vector<double>{0.0, 200.0}))
        << hwy::TargetName(target);
    EXPECT_EQ(values_of("silu", ElementType::f32, x),
              (std::vector<double>{0.0, 0.0, 0.0, 200.0, 0.0, most}))
        << hwy::TargetName(target);
  });
}

TEST(Fitted, GiveWhatTheLoopsGiveWhereFunctionsAreMadeOfLines) {
  std::vector<double> x = {0.0, -0.0, INFINITY, -INFINITY, 3e38, -3e38, 1e-40, -1e-40};
  for (const float at : {0.5f, 1.0f, 3.0f, 6.0f}) {
    for (const float sign : {1.0f, -1.0f}) {
      for (const float to : {0.0f, 9.0f}) {
        x.push_back(static_cast<double>(sign * at));
        x.push_back(static_cast<double>(sign * std::nextafter(at, to)));
      }
    }
  }
  for (const char* const name : {"relu", "leaky_relu", "relu6", "hardtanh", "threshold",
                                 "hardshrink", "softshrink", "relu_squared"}) {
    const Activation& activation = *find_activation(name);
    alignas(64) float loop_x[kBlock] = {};
    alignas(64) float loop_y[kBlock];
    for (size_t i = 0; i < x.size(); ++i) loop_x[i] = static_cast<float>(x[i]);
    activation.kernels->isa[kBaseline].value(loop_x, loop_y,
                                             activation.kernels->function.narrow_parameters);
    for_each_target([&](int64_t target) {
      const Forward pass =
          run_forward(activation, kNoSteps, ElementType::f32, bytes_of(x, ElementType::f32));
      for (size_t i = 0; i < x.size(); ++i) {
        EXPECT_EQ(element(pass.y, ElementType::f32, static_cast<int64_t>(i)),
                  static_cast<double>(loop_y[i]))
            << name << " at " << x[i] << ' ' << hwy::TargetName(target);
      }
    });
  }
}

TEST(Fitted, ServeOnlyTheDefaultParameters) {
  const std::vector<double> x = normal_inputs(2000, 41);
  const double beta = 1.5;
  const Forward pass = run_forward(*find_activation("silu"), kNoSteps, ElementType::f32,
                                   bytes_of(x, ElementType::f32), &beta);
  for (int64_t i = 0; i < 2000; ++i) {
    const double at = static_cast<double>(static_cast<float>(x[static_cast<size_t>(i)]));
    EXPECT_NEAR(element(pass.y, ElementType::f32, i), at / (1.0 + std::exp(-1.5 * at)),
                2e-7 * std::max(1.0, std::fabs(at)));
  }
}

}  // namespace fewbit::kernels::fitted_test
