// float and double inputs where codes change: at every threshold of every table, beside it, at
// zeros, at infinities and at NaN.
#include <gtest/gtest.h>

#include "expression/evaluate.hpp"
#include "functions/registry.hpp"
#include "tests/kernels/inputs.hpp"
#include "tests/kernels/support.hpp"
#include "tests/support/allowed_error.hpp"

namespace fewbit::kernels::floats_test {

template <class Real>
void expect_codes_of_the_definition(ElementType type) {
  for (const NamedTable& named : all_tables()) {
    if (named.table->threshold_count == 0) continue;
    const StepView steps = view_of(*named.table);
    const std::vector<double> x = around_thresholds<Real>(steps);
    for_each_target([&](int64_t target) {
      const Forward pass =
          run_forward(*find_activation(named.function), steps, type, bytes_of(x, type));
      for (size_t i = 0; i < x.size(); ++i) {
        ASSERT_EQ(code_at(pass.codes, steps.bits, static_cast<int64_t>(i)),
                  reference_code(steps, x[i]))
            << named.function << ' ' << named.table->name << " at " << x[i] << ' '
            << hwy::TargetName(target);
      }
    });
  }
}

TEST(Floats, GetTheCodeOfTheDefinitionAtThresholdsAndBesideThem) {
  expect_codes_of_the_definition<float>(ElementType::f32);
}

TEST(Doubles, AreComparedInDoubleAtThresholdsAndBesideThem) {
  expect_codes_of_the_definition<double>(ElementType::f64);
}

const uint8_t kNoCode[] = {0};
constexpr StepView kNoSteps = {1, false, 0, nullptr, kNoCode, 0, nullptr};

TEST(Floats, NaNGivesNaNAndTheCodeOfTheLowestInterval) {
  const StepView gelu = view_of(generated::gelu::tables::levels_normal_b3);
  for (const Activation& activation : activations()) {
    for (const ElementType type :
         {ElementType::f32, ElementType::bf16, ElementType::f16, ElementType::f64}) {
      for_each_target([&](int64_t target) {
        const Forward pass = run_forward(activation, gelu, type, bytes_of({NAN, -NAN, 0.0}, type));
        for (int64_t i = 0; i < 2; ++i) {
          EXPECT_TRUE(std::isnan(element(pass.y, type, i)))
              << activation.name << ' ' << type_name(type) << ' ' << hwy::TargetName(target);
          EXPECT_EQ(code_at(pass.codes, 3, i), gelu.codes[0]);
        }
      });
    }
  }
}

TEST(Floats, InfinitiesGiveTheLimits) {
  struct Limit {
    const char* function;
    double left;
    double right;
  };
  for (const Limit& limit :
       {Limit{"gelu", 0, INFINITY}, Limit{"silu", 0, INFINITY}, Limit{"sigmoid", 0, 1},
        Limit{"tanh", -1, 1}, Limit{"softplus", 0, INFINITY}, Limit{"logsigmoid", -INFINITY, 0},
        Limit{"tanhshrink", -INFINITY, INFINITY}, Limit{"relu", 0, INFINITY},
        Limit{"elu", -1, INFINITY}, Limit{"mish", 0, INFINITY}, Limit{"hardswish", 0, INFINITY}}) {
    for (const ElementType type :
         {ElementType::f32, ElementType::bf16, ElementType::f16, ElementType::f64}) {
      for_each_target([&](int64_t target) {
        const Forward pass = run_forward(*find_activation(limit.function), kNoSteps, type,
                                         bytes_of({-INFINITY, INFINITY}, type));
        EXPECT_EQ(element(pass.y, type, 0), limit.left)
            << limit.function << ' ' << type_name(type) << ' ' << hwy::TargetName(target);
        EXPECT_EQ(element(pass.y, type, 1), limit.right)
            << limit.function << ' ' << type_name(type) << ' ' << hwy::TargetName(target);
      });
    }
  }
}

solver::Expression expression_of(const Activation& activation) {
  solver::FunctionSpec spec = solver::parse_function(activation.name);
  for (auto& [parameter, value] : spec.parameters) value = static_cast<float>(value);
  return solver::expression_of(spec);
}

TEST(Doubles, HaveTheParametersThatWereGiven) {
  const std::vector<double> x = normal_inputs(3000, 22);
  for (const char* const asked :
       {"leaky_relu:negative_slope=0.01", "leaky_relu:negative_slope=0.3", "elu:alpha=0.7",
        "celu:alpha=0.7", "softplus:beta=1.3,threshold=3.1", "silu:beta=1.7",
        "hardtanh:min=-0.1,max=0.7", "threshold:threshold=0.1,value=0.7", "hardshrink:lambda=0.1",
        "softshrink:lambda=0.1"}) {
    const solver::FunctionSpec spec = solver::parse_function(asked);
    const solver::Expression f = solver::expression_of(spec);
    std::vector<double> parameters;
    for (const auto& [name, value] : spec.parameters) parameters.push_back(value);
    const Forward pass = run_forward(*find_activation(spec.name), kNoSteps, ElementType::f64,
                                     bytes_of(x, ElementType::f64), parameters.data());
    for (size_t i = 0; i < x.size(); ++i) {
      const double y = element(pass.y, ElementType::f64, static_cast<int64_t>(i));
      ASSERT_NEAR(y, f.evaluate(x[i]), 4e-15 * std::max(1.0, std::fabs(x[i])))
          << asked << " at " << x[i];
    }
  }
}

TEST(Doubles, GetTheValueOfTheFormulaInDouble) {
  const std::vector<double> x = normal_inputs(3000, 22);
  for (const Activation& activation : activations()) {
    const solver::Expression f = solver::expression_of(solver::parse_function(activation.name));
    const Forward pass =
        run_forward(activation, kNoSteps, ElementType::f64, bytes_of(x, ElementType::f64));
    for (size_t i = 0; i < x.size(); ++i) {
      const double y = element(pass.y, ElementType::f64, static_cast<int64_t>(i));
      ASSERT_NEAR(y, f.evaluate(x[i]), 4e-15 * std::max(1.0, std::fabs(x[i])))
          << activation.name << " at " << x[i];
    }
  }
}

TEST(Floats, GetTheValueOfTheFormulaTo2UlpOr2ToTheMinus24) {
  std::vector<double> x;
  for (uint32_t bits = 0x20000000; bits < 0x41200000; bits += 3331) {
    x.push_back(static_cast<double>(std::bit_cast<float>(bits)));
    x.push_back(-x.back());
  }
  for (const Activation& activation : activations()) {
    const solver::Expression f = expression_of(activation);
    for_each_target([&](int64_t target) {
      const Forward pass =
          run_forward(activation, kNoSteps, ElementType::f32, bytes_of(x, ElementType::f32));
      for (size_t i = 0; i < x.size(); ++i) {
        const double exact = f.evaluate(x[i]);
        ASSERT_NEAR(element(pass.y, ElementType::f32, static_cast<int64_t>(i)), exact,
                    allowed_error(exact, x[i]))
            << activation.name << " at " << x[i] << ' ' << hwy::TargetName(target);
      }
    });
  }
}

TEST(Floats, GetTheSameValuesFromEveryInstructionSetWithAFusedMultiplyAdd) {
  const std::vector<uint8_t> x = bytes_of(normal_inputs(100000, 23), ElementType::f32);
  for (const Activation& activation : activations()) {
    std::vector<uint8_t> first;
    for_each_target([&](int64_t target) {
      if (target == HWY_SSE4) return;
      const Forward pass = run_forward(activation, kNoSteps, ElementType::f32, x);
      if (first.empty()) first = pass.y;
      EXPECT_EQ(first, pass.y) << activation.name << ' ' << hwy::TargetName(target);
    });
  }
}

}  // namespace fewbit::kernels::floats_test
