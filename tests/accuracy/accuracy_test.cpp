// Every 1009th float of the domain's binades: generated code and kernels against the bound and
// against libtorch's own float32. `scripts/bench accuracy` goes through all of them.
#include <bit>
#include <cmath>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include "bench/accuracy/measure.hpp"
#include "functions/registry.hpp"
#include "kernels/activation/cpu/function_kernels.hpp"
#include "tests/kernels/support.hpp"

namespace fewbit::bench::accuracy_test {

constexpr uint32_t kStride = 1009;

/// code, kernel, libtorch.
std::vector<Accuracy> sample(const std::string& function, const std::vector<Subject>& subjects) {
  return measure(Reference(function), subjects, domain_binades(kStride));
}

void expect_no_worse(const Worst& ours, const Worst& theirs) {
  const Standing standing = standing_of(ours, theirs);
  EXPECT_TRUE(standing == Standing::no_worse || standing == Standing::close)
      << ours.units << " at " << ours.units_at << ", libtorch " << theirs.units << " at "
      << theirs.units_at;
}

/// Whether the kernel is not the generated code, nor equal to it.
bool is_fitted(const std::string& function) {
  const kernels::Fitted& fitted = kernels::find_activation(function)->kernels->fitted();
  return std::holds_alternative<kernels::Logistic>(fitted) ||
         std::holds_alternative<kernels::SegmentTable>(fitted);
}

class EveryFunction : public testing::TestWithParam<std::string> {};

TEST_P(EveryFunction, IsWithinTheBoundAndNoWorseThanLibtorch) {
  const std::vector<Accuracy> of = sample(GetParam(), subjects_of(GetParam()));
  const auto& [code, kernel, libtorch] = std::tie(of[0], of[1], of[2]);
  expect_no_worse(code.value, libtorch.value);
  expect_no_worse(code.slope, libtorch.slope);
  expect_no_worse(kernel.slope, libtorch.slope);
  // These two are faster than they are accurate, which bench/results/accuracy.md says: for them the
  // bound is the promise.
  const std::set<std::string> kForSpeed = {"silu", "tanh"};
  if (!kForSpeed.contains(GetParam())) expect_no_worse(kernel.value, libtorch.value);
  EXPECT_LE(kernel.value.units, 1.0) << "at " << kernel.value.units_at;
}

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const solver::FunctionInfo& info : solver::registry()) names.push_back(info.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryFunction, testing::ValuesIn(names()),
                         [](const auto& name) { return name.param; });

TEST(Fits, KeepTheBoundOnEveryInstructionSet) {
  for (const std::string& name : names()) {
    if (!is_fitted(name)) continue;
    const Subject kernel = subjects_of(name)[1];
    kernels::for_each_target([&](int64_t target) {
      const Worst value = measure(Reference(name), {kernel}, domain_binades(101))[0].value;
      EXPECT_LE(value.units, 1.0) << name << " at " << value.units_at << ' '
                                  << hwy::TargetName(target);
    });
  }
}

/// The generated code with values that are so many floats further from zero.
std::vector<Subject> moved(const std::string& function, int floats) {
  Subject subject = subjects_of(function)[0];
  subject.evaluate = [=, exact = subject.evaluate](const float* x, float* value, float* slope) {
    exact(x, value, slope);
    for (size_t i = 0; i < kChunk; ++i) {
      value[i] = std::bit_cast<float>(std::bit_cast<int32_t>(value[i]) + floats);
    }
  };
  return {subject};
}

TEST(Measure, CountsUlpsAndUnitsOfTheBound) {
  const Accuracy exact = sample("relu", moved("relu", 0))[0];
  EXPECT_EQ(exact.value.units, 0.0);
  const Accuracy off = sample("relu", moved("relu", 3))[0];
  EXPECT_EQ(off.value.ulps, 3.0);
  EXPECT_EQ(off.value.units, 1.5);
  EXPECT_EQ(off.slope.units, 0.0);
}

TEST(Measure, FindsTheOneFloatThatIsWrong) {
  Subject subject = subjects_of("silu")[0];
  for (const float wrong : {-INFINITY, NAN}) {
    subject.evaluate = [=, good = subject.evaluate](const float* x, float* value, float* slope) {
      good(x, value, slope);
      for (size_t i = 0; i < kChunk; ++i) {
        if (x[i] == -1.5f) slope[i] = wrong;
      }
    };
    const FloatRange around = {std::bit_cast<uint32_t>(1.49f), std::bit_cast<uint32_t>(1.51f), 1};
    const Worst slope = measure(Reference("silu"), {subject}, std::span(&around, 1))[0].slope;
    EXPECT_EQ(slope.units, INFINITY);
    EXPECT_EQ(slope.units_at, -1.5f);
  }
}

TEST(Measure, GoesThroughEveryFloatOfTheDomain) {
  // |x| = 2^-26 to 16 at stride 1, both signs: 30 binades of 2^23 floats.
  const FloatRange all = domain_binades(1).back();
  EXPECT_EQ(std::bit_cast<float>(all.begin), 0x1p-26f);
  EXPECT_EQ(std::bit_cast<float>(all.end), 16.0f);
  EXPECT_EQ(all.end - all.begin, 30u << 23);
  EXPECT_EQ(all.stride, 1u);
}

TEST(Standing, IsThatOfTheLargestError) {
  const auto of = [](double units) { return Worst{.units = units}; };
  EXPECT_EQ(standing_of(of(0.7), of(0.7)), Standing::no_worse);
  EXPECT_EQ(standing_of(of(0.3), of(0.25)), Standing::close);
  EXPECT_EQ(standing_of(of(0.8), of(0.7)), Standing::worse);
  EXPECT_EQ(standing_of(of(1.1), of(5.0)), Standing::beyond_bound);
  EXPECT_EQ(standing_of(of(INFINITY), of(INFINITY)), Standing::beyond_bound);
}

}  // namespace fewbit::bench::accuracy_test
