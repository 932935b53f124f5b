// The unbiased form: reproducible, independent of ranges and instruction sets, right on average.
#include <gtest/gtest.h>

#include "expression/derivative.hpp"
#include "functions/registry.hpp"
#include "tests/kernels/support.hpp"

namespace fewbit::kernels::unbiased_test {

constexpr ElementType kTypes[] = {ElementType::f32, ElementType::bf16, ElementType::f16,
                                  ElementType::f64};

Forward run_unbiased(const NamedTable& named, PhiloxState random, ElementType type,
                     const std::vector<uint8_t>& x, const std::vector<int64_t>& borders = {}) {
  const int64_t count = static_cast<int64_t>(x.size()) / element_bytes(type);
  const StepView steps = view_of(*named.table);
  Forward result{std::vector<uint8_t>(x.size()),
                 std::vector<uint8_t>(static_cast<size_t>(code_bytes(count, steps.bits)), 0xFF)};
  std::vector<int64_t> ends = borders;
  ends.push_back(count);
  int64_t begin = 0;
  for (const int64_t end : ends) {
    activation_forward_unbiased(*find_activation(named.function), nullptr, steps, random, type,
                                x.data(), result.y.data(), result.codes.data(),
                                {begin, end, count});
    begin = end;
  }
  return result;
}

std::vector<NamedTable> unbiased_tables() {
  std::vector<NamedTable> tables;
  for (const NamedTable& named : all_tables()) {
    if (named.table->threshold_count == 0) tables.push_back(named);
  }
  return tables;
}

TEST(Unbiased, ExpectedLevelIsTheDerivativeWithinFiveSigma) {
  constexpr int64_t kCount = 40000;
  for (const NamedTable& named : unbiased_tables()) {
    const StepView steps = view_of(*named.table);
    const solver::Expression f = solver::expression_of(solver::parse_function(named.function));
    const solver::Derivative slope(f, -10.0, 10.0);
    for (const double at : {-2.5, -0.7, 0.1, 1.3}) {
      const double exact = std::clamp(slope.value(static_cast<double>(static_cast<float>(at))),
                                      static_cast<double>(steps.levels[0]),
                                      static_cast<double>(steps.levels[steps.level_count - 1]));
      const std::vector<double> x(kCount, at);
      const Forward pass =
          run_unbiased(named, {5, 6}, ElementType::f32, bytes_of(x, ElementType::f32));
      double sum = 0.0;
      double squares = 0.0;
      for (int64_t i = 0; i < kCount; ++i) {
        const double level = static_cast<double>(steps.levels[code_at(pass.codes, steps.bits, i)]);
        sum += level;
        squares += level * level;
      }
      const double mean = sum / kCount;
      const double variance = std::max(squares / kCount - mean * mean, 0.0);
      EXPECT_NEAR(mean, exact, 5.0 * std::sqrt(variance / kCount) + 1e-4)
          << named.function << ' ' << named.table->name << " at " << at;
    }
  }
}

TEST(Unbiased, SameSeedAndOffsetGiveTheSameStreamHoweverItIsSplit) {
  const std::vector<double> x = normal_inputs(9 * kBlock + 100, 31);
  for (const ElementType type : kTypes) {
    const std::vector<uint8_t> bytes = bytes_of(x, type);
    for (const NamedTable& named : unbiased_tables()) {
      const Forward whole = run_unbiased(named, {1, 2}, type, bytes);
      const Forward again = run_unbiased(named, {1, 2}, type, bytes, {kBlock, 4 * kBlock});
      ASSERT_EQ(whole.codes, again.codes) << named.function;
      ASSERT_EQ(whole.y, again.y) << named.function;
    }
  }
}

TEST(Unbiased, AnotherSeedOrOffsetGivesAnotherStream) {
  const std::vector<uint8_t> x = bytes_of(normal_inputs(4096, 32), ElementType::f32);
  const NamedTable gelu{"gelu", &generated::gelu::tables::unbiased_normal_b2};
  const Forward first = run_unbiased(gelu, {1, 2}, ElementType::f32, x);
  EXPECT_NE(first.codes, run_unbiased(gelu, {2, 2}, ElementType::f32, x).codes);
  EXPECT_NE(first.codes, run_unbiased(gelu, {1, 3}, ElementType::f32, x).codes);
}

TEST(Unbiased, EveryInstructionSetWithAFusedMultiplyAddGivesTheSameCodes) {
  const std::vector<uint8_t> x = bytes_of(normal_inputs(20000, 33), ElementType::f32);
  for (const NamedTable& named : unbiased_tables()) {
    std::vector<uint8_t> first;
    for_each_target([&](int64_t target) {
      if (target == HWY_SSE4) return;
      const Forward pass = run_unbiased(named, {7, 8}, ElementType::f32, x);
      if (first.empty()) first = pass.codes;
      EXPECT_EQ(first, pass.codes) << named.function << ' ' << hwy::TargetName(target);
    });
  }
}

TEST(Unbiased, CodesAreTheLevelsAroundTheDerivativeChosenByTheStatedUniformNumber) {
  const NamedTable gelu{"gelu", &generated::gelu::tables::unbiased_normal_b3};
  const StepView steps = view_of(*gelu.table);
  const std::vector<uint8_t> x = bytes_of(normal_inputs(3000, 34), ElementType::f32);
  const PhiloxState random{11, 12};
  const Forward pass = run_unbiased(gelu, random, ElementType::f32, x);
  for (int64_t i = 0; i < 3000; ++i) {
    const float at = static_cast<float>(element(x, ElementType::f32, i));
    const double slope = static_cast<double>(generated::gelu::derivative(at));
    int lower = 0;
    while (lower + 2 < steps.level_count && slope >= static_cast<double>(steps.levels[lower + 1])) {
      ++lower;
    }
    const double low = static_cast<double>(steps.levels[lower]);
    const double high = static_cast<double>(steps.levels[lower + 1]);
    const double chance = (slope - low) / (high - low);
    const double drawn = static_cast<double>(uniform(random, static_cast<uint64_t>(i)));
    if (std::fabs(drawn - chance) < 1e-5) continue;
    ASSERT_EQ(code_at(pass.codes, 3, i), lower + (drawn < chance)) << i;
  }
}

}  // namespace fewbit::kernels::unbiased_test
