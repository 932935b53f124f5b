#include "kernels/cpu/segments.hpp"

#include <set>

#include <gtest/gtest.h>

#include "tests/kernels/support.hpp"

namespace fewbit::kernels {

namespace {

TEST(Segments, HoldGatesAndTanhAndNoOthers) {
  std::set<std::string> held;
  for (const Activation& activation : activations()) {
    if (activation.kernels->segments().degree != 0) held.insert(activation.name);
  }
  EXPECT_EQ(held,
            (std::set<std::string>{"gelu", "gelu_tanh", "mish", "quick_gelu", "silu", "tanh"}));
}

TEST(Segments, KeepTheRelativeAccuracyOfSmallValues) {
  for (const char* const name : {"gelu", "silu", "tanh"}) {
    for_each_target([&](int64_t target) {
      const std::vector<double> x = {1e-30, -1e-30, 1e-10, 1e-4, -1e-3};
      const uint8_t code = 0;
      const StepView none{1, false, 0, nullptr, &code, 0, nullptr};
      const Forward narrow = run_forward(*find_activation(name), none, ElementType::f32,
                                         bytes_of(x, ElementType::f32));
      const Forward wide = run_forward(*find_activation(name), none, ElementType::f64,
                                       bytes_of(x, ElementType::f64));
      for (int64_t i = 0; i < 5; ++i) {
        const double exact = element(wide.y, ElementType::f64, i);
        EXPECT_NEAR(element(narrow.y, ElementType::f32, i), exact, 3e-7 * std::fabs(exact))
            << name << ' ' << hwy::TargetName(target);
      }
    });
  }
}

TEST(Segments, ServeOnlyTheDefaultParameters) {
  const std::vector<double> x = normal_inputs(2000, 41);
  const uint8_t code = 0;
  const StepView none{1, false, 0, nullptr, &code, 0, nullptr};
  const double beta = 1.5;
  const Forward pass = run_forward(*find_activation("silu"), none, ElementType::f32,
                                   bytes_of(x, ElementType::f32), &beta);
  for (int64_t i = 0; i < 2000; ++i) {
    const double at = static_cast<double>(static_cast<float>(x[static_cast<size_t>(i)]));
    EXPECT_NEAR(element(pass.y, ElementType::f32, i), at / (1.0 + std::exp(-1.5 * at)),
                2e-7 * std::max(1.0, std::fabs(at)));
  }
}

}  // namespace

}  // namespace fewbit::kernels
