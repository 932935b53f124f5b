// A function of a consumer's own: own_act(x) = x tanh(x), see CMakeLists.txt.
#include <fewbit/nn/own_act.hpp>
#include <fewbit/register_activation.hpp>
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include "kernels/activation/activation.hpp"
#include "tests/ops/support.hpp"

namespace fewbit::register_activation_test {

at::Tensor inputs(at::ScalarType type) {
  return at::cat({at::linspace(-9, 9, 4001), at::tensor({-INFINITY, -0.0f, INFINITY})}).to(type);
}

/// What registering throws, or "accepted".
std::string refusal(const std::string& name, const std::string& table_json) {
  static const kernels::Activation own = *kernels::find_activation("own_act");
  const kernels::Activation activation{name.c_str(), 0, own.default_parameters, own.kernels};
  try {
    register_activation(activation, table_json);
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "accepted";
}

std::string own_json() {
  return Table::standard("own_act", Bits{2}).data().json;
}

TEST(RegisteredActivation, HasGradientsThatAreTheStepFunction) {
  for (const int bits : {2, 1, 5}) {
    const at::Tensor x = inputs(at::kFloat).requires_grad_();
    own_act(x, Bits{bits}).sum().backward();
    const Table table = Table::standard("own_act", Bits{bits});
    EXPECT_EQ(table.bits(), bits);
    for (int64_t i = 0; i < x.numel(); ++i) {
      EXPECT_EQ(x.grad()[i].item<float>(), test::level_of(table, x[i].item<float>()));
    }
  }
}

TEST(RegisteredActivation, HasTheSameCodesOnEveryInstructionSet) {
  const Table table = Table::standard("own_act", Bits{2});
  for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf, at::kDouble}) {
    const at::Tensor x = inputs(type);
    const auto [best_y, best_codes] = test::forward(x, table);
    const at::Tensor wide = x.to(at::kDouble);
    EXPECT_TRUE(at::allclose(best_y.to(at::kDouble), wide * at::tanh(wide), 0x1p-8, 0x1p-24));
    for (int64_t targets = hwy::SupportedTargets(); targets != 0; targets &= targets - 1) {
      hwy::SetSupportedTargetsForTest(targets & -targets);
      const auto [y, codes] = test::forward(x, table);
      EXPECT_TRUE(at::equal(codes, best_codes));
      EXPECT_TRUE(at::allclose(y, best_y, 0x1p-7, 0x1p-24));
    }
    hwy::SetSupportedTargetsForTest(0);
  }
}

TEST(RegisteredActivation, HasTheDefaultsOfTheRuntimesOwn) {
  EXPECT_EQ(Table::standard("own_act", Bits{2}).name(), "smoothed_normal_b2");
  EXPECT_EQ(Table::standard("own_act", Bits{5}).name(), "levels_normal_b5");
}

TEST(RegisteredActivation, MayBeRegisteredAgain) {
  EXPECT_EQ(refusal("own_act", own_json()), "accepted");
}

TEST(RegisteredActivation, IsRefusedUnderANameThatIsTaken) {
  EXPECT_EQ(refusal("gelu", Table::standard("gelu", Bits{5}).data().json),
            "fewbit::register_activation: gelu is a built-in function");
  EXPECT_EQ(refusal("own_act", Table::standard("own_act", Bits{1}).data().json),
            "fewbit::register_activation: own_act is registered with another table");
}

TEST(RegisteredActivation, IsRefusedWithATableOfAnother) {
  EXPECT_EQ(refusal("other", own_json()),
            "fewbit::register_activation: other: the table is one of 'own_act'");
  EXPECT_NE(refusal("other", "{"), "accepted");
  EXPECT_EQ(kernels::find_activation("other"), nullptr);
}

TEST(RegisteredActivation, TakesNoParameters) {
  try {
    Table::standard("own_act", Bits{2}, {1.0});
    FAIL();
  } catch (const c10::Error& error) {
    EXPECT_STREQ(error.what_without_backtrace(), "fewbit: own_act takes no parameters, not 1");
  }
}

}  // namespace fewbit::register_activation_test
