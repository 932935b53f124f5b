// The registered functions are those of PyTorch. Literals: 17 digits from an arbitrary precision
// calculator, by the definitions in PyTorch's manual.

#include <cmath>

#include <gtest/gtest.h>

#include "expression/evaluate.hpp"
#include "functions/registry.hpp"

namespace fewbit::solver::definition_test {

struct Row {
  const char* function;
  double at[5];  ///< f(-2), f(-0.5), f(0), f(0.5), f(2)
};

const std::vector<Row>& rows() {
  static const std::vector<Row> table = {
      {"relu", {0, 0, 0.0, 0.5, 2.0}},
      {"leaky_relu", {-0.02, -0.005, 0.0, 0.5, 2.0}},
      {"relu6", {0, 0, 0.0, 0.5, 2.0}},
      {"threshold", {0.0, 0.0, 0.0, 0.5, 2.0}},
      {"hardtanh", {-1, -0.5, 0.0, 0.5, 1}},
      {"hardsigmoid",
       {0.16666666666666667, 0.41666666666666667, 0.5, 0.58333333333333333, 0.83333333333333333}},
      {"hardshrink", {-2.0, 0.0, 0.0, 0.0, 2.0}},
      {"softshrink", {-1.5, 0.0, 0.0, 0.0, 1.5}},
      {"celu", {-0.86466471676338731, -0.39346934028736658, 0.0, 0.5, 2.0}},
      {"elu", {-0.86466471676338731, -0.39346934028736658, 0.0, 0.5, 2.0}},
      {"gelu",
       {-0.045500263896358414, -0.15426876936299345, 0.0, 0.34573123063700655, 1.9544997361036416}},
      {"gelu_tanh",
       {-0.045402305912224981, -0.15428599017485608, 0.0, 0.34571400982514392, 1.954597694087775}},
      {"quick_gelu",
       {-0.06434137685579185, -0.14961156339361988, 0.0, 0.35038843660638012, 1.9356586231442081}},
      {"hardswish",
       {-0.33333333333333333, -0.20833333333333333, 0.0, 0.29166666666666667, 1.6666666666666667}},
      {"logsigmoid",
       {-2.1269280110429725, -0.97407698418010668, -0.69314718055994531, -0.47407698418010668,
        -0.1269280110429725}},
      {"mish",
       {-0.25250148269570886, -0.22074377465173, 0.0, 0.3752452113048951, 1.9439589595339945}},
      {"selu",
       {-1.520166468595695, -0.6917581878028714, 0.0, 0.52535049367774025, 2.101401974710961}},
      {"sigmoid",
       {0.11920292202211756, 0.37754066879814544, 0.5, 0.62245933120185456, 0.88079707797788244}},
      {"silu",
       {-0.23840584404423511, -0.18877033439907272, 0.0, 0.31122966560092728, 1.7615941559557649}},
      {"softplus",
       {0.1269280110429725, 0.47407698418010668, 0.69314718055994531, 0.97407698418010668,
        2.1269280110429725}},
      {"softsign",
       {-0.66666666666666667, -0.33333333333333333, 0.0, 0.33333333333333333, 0.66666666666666667}},
      {"tanh",
       {-0.96402758007581688, -0.46211715726000976, 0.0, 0.46211715726000976, 0.96402758007581688}},
      {"tanhshrink",
       {-1.0359724199241831, -0.037882842739990241, 0.0, 0.037882842739990241, 1.0359724199241831}},
      {"relu_squared", {0, 0, 0.0, 0.25, 4.0}},
      {"elu:alpha=0.5", {-0.43233235838169365, -0.19673467014368329, 0.0, 0.5, 2.0}},
      {"leaky_relu:negative_slope=0.2", {-0.4, -0.1, 0.0, 0.5, 2.0}},
      {"celu:alpha=2", {-1.2642411176571154, -0.44239843385719026, 0.0, 0.5, 2.0}},
      {"hardtanh:min=-0.25,max=1.5", {-0.25, -0.25, 0.0, 0.5, 1.5}},
      {"softplus:beta=2,threshold=3",
       {0.0090749639589048702, 0.15663084375911142, 0.34657359027997265, 0.65663084375911142, 2.0}},
      {"swish:beta=3",
       {-0.0049452463132695487, -0.09121276190317817, 0.0, 0.40878723809682183,
        1.9950547536867305}},
      {"threshold:threshold=0.5,value=7", {7.0, 7.0, 7.0, 7.0, 2.0}},
      {"hardshrink:lambda=1", {-2.0, 0.0, 0.0, 0.0, 2.0}},
      {"softshrink:lambda=0.25", {-1.75, -0.25, 0.0, 0.25, 1.75}},
  };
  return table;
}

TEST(Registry, AgreesWithPyTorchAtFivePoints) {
  constexpr double kX[5] = {-2.0, -0.5, 0.0, 0.5, 2.0};
  for (const Row& row : rows()) {
    const Expression f = expression_of(parse_function(row.function));
    for (int i = 0; i < 5; ++i) {
      EXPECT_NEAR(f.evaluate(kX[i]), row.at[i], 1e-15 * std::abs(row.at[i]))
          << row.function << " at " << kX[i];
    }
  }
}

TEST(Registry, HasEveryFunctionInTheTableAbove) {
  for (const FunctionInfo& info : registry()) {
    const bool found = std::any_of(rows().begin(), rows().end(),
                                   [&](const Row& row) { return info.name == row.function; });
    EXPECT_TRUE(found) << info.name;
  }
}

}  // namespace fewbit::solver::definition_test
