// All 65,536 values of both 16-bit types through every table and function of the registry.
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "expression/evaluate.hpp"
#include "functions/registry.hpp"
#include "kernels/activation/cpu/function_kernels.hpp"
#include "tests/kernels/inputs.hpp"
#include "tests/kernels/support.hpp"
#include "tests/support/allowed_error.hpp"
#include "tests/support/nearest_half.hpp"

namespace fewbit::kernels::halves_test {

constexpr ElementType kHalves[] = {ElementType::bf16, ElementType::f16};

TEST(SixteenBitInputs, GetTheCodeThatTheDefinitionGivesForEveryTable) {
  for (const ElementType type : kHalves) {
    const std::vector<double> x = elements(every_half(), type);
    for (const NamedTable& named : all_tables()) {
      if (named.table->threshold_count == 0) continue;
      const StepView steps = view_of(*named.table);
      const std::vector<uint8_t> expected = reference_stream(steps, x);
      for_each_target([&](int64_t target) {
        const Forward pass =
            run_forward(*find_activation(named.function), steps, type, every_half());
        ASSERT_EQ(pass.codes, expected) << named.function << ' ' << named.table->name << ' '
                                        << type_name(type) << ' ' << hwy::TargetName(target);
      });
    }
  }
}

double value_of(int half, ElementType type) {
  return static_cast<double>(float_from_half(type, static_cast<uint16_t>(half)));
}

double rounded(double x, ElementType type) {
  return element(bytes_of({x}, type), type, 0);
}

/// Between the roundings of the ends of what is allowed for floats.
bool is_allowed(double y, double exact, double x, ElementType type) {
  if (std::isnan(exact)) return std::isnan(y);
  if (std::isinf(exact)) return y == exact;
  const double allowed = allowed_error(exact, x);
  return rounded(exact - allowed, type) <= y && y <= rounded(exact + allowed, type);
}

TEST(SixteenBitInputs, GetTheValueOfTheFormulaToWhatIsStated) {
  for (const Activation& activation : activations()) {
    solver::FunctionSpec spec = solver::parse_function(activation.name);
    for (auto& [parameter, value] : spec.parameters) value = static_cast<float>(value);
    const solver::Expression f = solver::expression_of(spec);
    for (const ElementType type : kHalves) {
      const std::vector<double> x = elements(every_half(), type);
      for_each_target([&](int64_t target) {
        const Forward pass = run_forward(
            activation, {1, false, 0, nullptr, reinterpret_cast<const uint8_t*>(""), 0, nullptr},
            type, every_half());
        for (int64_t i = 0; i < 65536; ++i) {
          const double at = x[static_cast<size_t>(i)];
          const double y = element(pass.y, type, i);
          if (std::isnan(at)) {
            ASSERT_TRUE(std::isnan(y)) << activation.name;
          } else if (std::fabs(at) <= 1e4) {
            ASSERT_TRUE(is_allowed(y, f.evaluate(at), at, type))
                << activation.name << '(' << at << ") = " << y << ", not " << f.evaluate(at) << ", "
                << type_name(type) << ' ' << hwy::TargetName(target);
          }
        }
      });
    }
  }
}

TEST(SixteenBitInputs, GetTheNearestValueForEveryCurvedFunction) {
  int curved = 0;
  for (const Activation& activation : activations()) {
    for (const ElementType type : kHalves) {
      if (activation.kernels->halves(type).y.empty()) continue;
      ++curved;
      const std::vector<double> x = elements(every_half(), type);
      const StepView none{1, false, 0, nullptr, reinterpret_cast<const uint8_t*>(""), 0, nullptr};
      const std::vector<double> exact =
          elements(run_forward(activation, none, ElementType::f64, bytes_of(x, ElementType::f64)).y,
                   ElementType::f64);
      for_each_target([&](int64_t target) {
        const std::vector<uint8_t> y = run_forward(activation, none, type, every_half()).y;
        for (int64_t i = 0; i < 65536; ++i) {
          const double wide = exact[static_cast<size_t>(i)];
          if (std::isnan(wide) || std::isinf(wide)) continue;
          ASSERT_EQ(element(y, type, i), value_of(nearest_half(type, wide), type))
              << activation.name << '(' << x[static_cast<size_t>(i)] << ") " << type_name(type)
              << ' ' << hwy::TargetName(target);
        }
      });
    }
  }
  EXPECT_EQ(curved, 2 * 16);  // all but the eight that are made of straight lines
}

/// Else for_each_target would try one way twice.
TEST(SixteenBitInputs, HaveAFitThatGivesTheTableOfGatesSigmoidAndTanh) {
  if ((instruction_sets() & HWY_AVX3) == 0) return;
  const StepView none{1, false, 0, nullptr, reinterpret_cast<const uint8_t*>(""), 0, nullptr};
  for (const char* const name : {"gelu", "gelu_tanh", "silu", "sigmoid", "tanh"}) {
    const Activation& activation = *find_activation(name);
    for (const ElementType type : kHalves) {
      run_forward(activation, none, type, every_half());  // finds the source
      const HalfSource& source = activation.kernels->half_source(type, nullptr);
      EXPECT_TRUE(source.exact.serves()) << name << ' ' << type_name(type);
    }
  }
}

TEST(SixteenBitInputs, GetTheCodeThatTheDefinitionGivesForTablesOfEveryShape) {
  for (const ElementType type : kHalves) {
    const std::vector<double> x = elements(every_half(), type);
    for (const int bits : {1, 2, 3, 4, 5, 8}) {
      for (const int thresholds : {1, 2, 3, 7, 14, 30, 48, 49, 300}) {
        for (const bool even : {false, true}) {
          SyntheticTable table(bits, thresholds, static_cast<uint32_t>(bits * 1000 + thresholds));
          table.even = even;
          const std::vector<uint8_t> expected = reference_stream(table.view(), x);
          for_each_target([&](int64_t target) {
            const Forward pass =
                run_forward(*find_activation("gelu"), table.view(), type, every_half());
            ASSERT_EQ(pass.codes, expected) << bits << " bits, " << thresholds << " thresholds, "
                                            << type_name(type) << ' ' << hwy::TargetName(target);
          });
        }
      }
    }
  }
}

TEST(SixteenBitInputs, GetTheCodeThatTheDefinitionGivesForThresholdsAtTheEndsOfTheType) {
  const std::vector<float> far = {-INFINITY, -3e38f, -65504.0f, -1e-40f, -0.0f,
                                  1e-45f,    1e-8f,  65519.0f,  3.4e38f, INFINITY};
  for (const ElementType type : kHalves) {
    const std::vector<double> x = elements(every_half(), type);
    for (size_t begin = 0; begin < far.size(); ++begin) {
      for (size_t end = begin + 1; end <= far.size(); ++end) {
        SyntheticTable table(4, static_cast<int>(end - begin), 7);
        table.thresholds.assign(far.begin() + static_cast<std::ptrdiff_t>(begin),
                                far.begin() + static_cast<std::ptrdiff_t>(end));
        const std::vector<uint8_t> expected = reference_stream(table.view(), x);
        for_each_target([&](int64_t target) {
          const Forward pass =
              run_forward(*find_activation("gelu"), table.view(), type, every_half());
          ASSERT_EQ(pass.codes, expected)
              << begin << " to " << end << ' ' << type_name(type) << ' ' << hwy::TargetName(target);
        });
      }
    }
  }
}

TEST(SixteenBitInputs, WidenAndNarrowTheSameByArithmeticAndByInstructions) {
  const StepView none{1, false, 0, nullptr, reinterpret_cast<const uint8_t*>(""), 0, nullptr};
  const double slope = 1.0;  // leaky_relu of slope 1 is the identity
  const std::vector<uint8_t> all = every_half();
  for (const ElementType type : kHalves) {
    for_each_target([&](int64_t target) {
      const Forward pass = run_forward(*find_activation("leaky_relu"), none, type, all, &slope);
      for (int64_t i = 0; i < 65536; ++i) {
        const double x = element(all, type, i);
        if (std::isnan(x)) continue;
        ASSERT_EQ(element(pass.y, type, i), x) << hwy::TargetName(target);
      }
    });
  }
}

}  // namespace fewbit::kernels::halves_test
