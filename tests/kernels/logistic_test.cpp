#include "kernels/cpu/logistic.hpp"

#include <map>

#include <gtest/gtest.h>

#include "tests/kernels/support.hpp"

namespace fewbit::kernels {

namespace {

const uint8_t kNoCode[] = {0};
constexpr StepView kNoSteps = {1, false, 0, nullptr, kNoCode, 0, nullptr};

std::vector<double> values_of(const char* function, ElementType type,
                              const std::vector<double>& x) {
  return elements(run_forward(*find_activation(function), kNoSteps, type, bytes_of(x, type)).y,
                  type);
}

TEST(Logistic, IsFoundInItsFiveFunctionsAndInNoOthers) {
  std::map<std::string, Logistic> found;
  for (const Activation& activation : activations()) {
    const Logistic& logistic = activation.kernels->logistic();
    if (logistic.kind != LogisticKind::none) found[activation.name] = logistic;
  }
  ASSERT_EQ(found.size(), 5);
  EXPECT_EQ(found.at("sigmoid").kind, LogisticKind::sigmoid);
  EXPECT_EQ(found.at("sigmoid").rate, 1.44269504f);
  EXPECT_EQ(found.at("silu").kind, LogisticKind::gate);
  EXPECT_EQ(found.at("silu").rate, 1.44269504f);
  EXPECT_EQ(found.at("quick_gelu").kind, LogisticKind::gate);
  EXPECT_EQ(found.at("quick_gelu").rate, 1.702f * 1.44269504f);
  EXPECT_EQ(found.at("softplus").kind, LogisticKind::softplus);
  EXPECT_EQ(found.at("logsigmoid").kind, LogisticKind::logsigmoid);
}

TEST(Logistic, KeepsTheRelativeAccuracyOfTails) {
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

TEST(Logistic, IsExactAtZeroAndKeepsItsSignBeyondTheTails) {
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

}  // namespace

}  // namespace fewbit::kernels
