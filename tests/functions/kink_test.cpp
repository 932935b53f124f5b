#include <gtest/gtest.h>

#include "expression/derivative.hpp"
#include "functions/registry.hpp"

namespace fewbit::solver::kink_test {

std::vector<double> kinks(const char* function, double lo = -10, double hi = 10) {
  const Derivative d(expression_of(parse_function(function)), lo, hi);
  return {d.borders().begin() + 1, d.borders().end() - 1};
}

using Kinks = std::vector<double>;

TEST(Kinks, AreTheExactDoublesOfEveryRegisteredFunction) {
  EXPECT_EQ(kinks("relu"), Kinks{0});
  EXPECT_EQ(kinks("leaky_relu"), Kinks{0});
  EXPECT_EQ(kinks("relu6"), (Kinks{0, 6}));
  EXPECT_EQ(kinks("threshold"), Kinks{0});
  EXPECT_EQ(kinks("hardtanh"), (Kinks{-1, 1}));
  EXPECT_EQ(kinks("hardsigmoid"), (Kinks{-3, 3}));
  EXPECT_EQ(kinks("hardshrink"), (Kinks{-0.5, 0.5}));
  EXPECT_EQ(kinks("softshrink"), (Kinks{-0.5, 0.5}));
  EXPECT_EQ(kinks("hardswish"), (Kinks{-3, 3}));
  EXPECT_EQ(kinks("softsign"), Kinks{0});
  for (const char* name : {"celu", "elu", "selu", "relu_squared"}) {
    EXPECT_EQ(kinks(name), Kinks{0}) << name;
  }
  EXPECT_EQ(kinks("softplus", -36, 36), Kinks{20});
}

TEST(Kinks, AreAbsentFromSmoothFunctions) {
  for (const char* name : {"gelu", "gelu_tanh", "quick_gelu", "logsigmoid", "mish", "sigmoid",
                           "silu", "tanh", "tanhshrink", "softplus"}) {
    EXPECT_EQ(kinks(name), Kinks{}) << name;
  }
}

TEST(Kinks, FollowTheParameters) {
  EXPECT_EQ(kinks("hardtanh:min=-0.1,max=0.7"), (Kinks{-0.1, 0.7}));
  EXPECT_EQ(kinks("hardshrink:lambda=0.3"), (Kinks{-0.3, 0.3}));
  EXPECT_EQ(kinks("softshrink:lambda=1.1"), (Kinks{-1.1, 1.1}));
  EXPECT_EQ(kinks("threshold:threshold=0.1,value=3"), Kinks{0.1});
  EXPECT_EQ(kinks("softplus:beta=3,threshold=1"), Kinks{1.0 / 3.0});
}

TEST(Kinks, AreTheSameOnDomainsThatAreNotSymmetric) {
  EXPECT_EQ(kinks("relu", -7.3, 11.9), Kinks{0});
  EXPECT_EQ(kinks("hardsigmoid", -7.3, 11.9), (Kinks{-3, 3}));
  EXPECT_EQ(kinks("softshrink", -0.3, 36), Kinks{0.5});
  EXPECT_EQ(kinks("elu", 0, 10), Kinks{});
}

}  // namespace fewbit::solver::kink_test
