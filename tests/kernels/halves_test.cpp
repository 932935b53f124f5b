// All 65,536 values of both 16-bit types through every table and function of the registry.
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "expression/evaluate.hpp"
#include "functions/registry.hpp"
#include "tests/kernels/support.hpp"
#include "tests/support/allowed_error.hpp"

namespace fewbit::kernels {

namespace {

constexpr ElementType kHalves[] = {ElementType::bf16, ElementType::f16};

std::vector<uint8_t> every_half() {
  std::vector<uint8_t> bytes;
  for (int half = 0; half < 65536; ++half) {
    bytes.push_back(static_cast<uint8_t>(half));
    bytes.push_back(static_cast<uint8_t>(half >> 8));
  }
  return bytes;
}

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

TEST(SixteenBitInputs, WidenAndNarrowTheSameByArithmeticAndByInstructions) {
  const StepView none{1, false, 0, nullptr, reinterpret_cast<const uint8_t*>(""), 0, nullptr};
  const float slope = 1.0f;  // leaky_relu of slope 1 is the identity
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

}  // namespace

}  // namespace fewbit::kernels
