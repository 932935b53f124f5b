// Forward of the CUDA kernels: the CPU kernels' codes, bit for bit, and values as stated.
#include <gtest/gtest.h>

#include "tests/cuda/support.hpp"

namespace fewbit::kernels::cuda::forward_test {

const Activation& function(const char* name) {
  return *find_activation(name);
}

std::vector<uint8_t> cpu_codes(const StepView& steps, ElementType type,
                               const std::vector<uint8_t>& x) {
  return run_forward(*kernels::find_activation("relu"), steps, type, x).codes;
}

TEST(CudaForward, KnowsTheCpusFunctions) {
  ASSERT_EQ(activations().size(), kernels::activations().size());
  for (size_t i = 0; i < activations().size(); ++i) {
    const Activation& here = activations()[i];
    const kernels::Activation& there = kernels::activations()[i];
    EXPECT_STREQ(here.name, there.name);
    ASSERT_EQ(here.parameter_count, there.parameter_count);
    for (int p = 0; p < here.parameter_count; ++p) {
      EXPECT_EQ(here.default_parameters[p], there.default_parameters[p]) << here.name;
    }
  }
  EXPECT_EQ(find_activation("no such function"), nullptr);
}

void expect_the_cpus_codes(const StepView& steps, int64_t count) {
  for (const ElementType type : kTypes) {
    const auto x = bytes_of(normal_inputs(count, 4), type);
    const auto expected = cpu_codes(steps, type, x);
    for (const How how : {How{}, How{.offset = 1}, How{.in_place = true}}) {
      ASSERT_EQ(device_forward(function("relu"), steps, type, x, how).codes, expected)
          << steps.bits << " bits, " << steps.threshold_count << " thresholds, " << count << ' '
          << type_name(type) << ", offset " << how.offset;
    }
  }
}

TEST(CudaForward, FindsTheCpusCodesForEveryCountAndAlignment) {
  for (const int thresholds : {9, 300}) {
    const SyntheticTable table(3, thresholds, 1);
    for (const int64_t count : telling_counts()) expect_the_cpus_codes(table.view(), count);
  }
}

TEST(CudaForward, FindsTheCpusCodesForTablesOfEveryShape) {
  for (int bits = 1; bits <= 8; ++bits) {
    for (const int thresholds : {1, 9, 300}) {
      SyntheticTable table(bits, thresholds, static_cast<uint32_t>(bits * 100 + thresholds));
      table.even = thresholds == 9;
      expect_the_cpus_codes(table.view(), 2500);
    }
  }
}

TEST(CudaForward, FindsTheCpusCodesForEveryTableOfTheRegistry) {
  for (const NamedTable& named : all_tables()) {
    const StepView steps = view_of(*named.table);
    if (steps.codes == nullptr) continue;
    for (const ElementType type : kTypes) {
      const auto x = bytes_of(around_thresholds<float>(steps), type);
      ASSERT_EQ(device_forward(function(named.function), steps, type, x).codes,
                cpu_codes(steps, type, x))
          << named.function << ' ' << named.table->name << ' ' << type_name(type);
    }
  }
}

TEST(CudaForward, RoundsAtRandomAsTheCpuDoes) {
  constexpr int64_t kCount = 3000;
  for (const NamedTable& named : all_tables()) {
    const StepView steps = view_of(*named.table);
    if (steps.codes != nullptr) continue;
    for (const ElementType type : kTypes) {
      const auto x = bytes_of(normal_inputs(kCount, 4), type);
      std::vector<uint8_t> y(x.size());
      std::vector<uint8_t> expected(static_cast<size_t>(code_bytes(kCount, steps.bits)));
      kernels::activation_forward_unbiased(*kernels::find_activation(named.function), nullptr,
                                           steps, {5, 6}, type, x.data(), y.data(), expected.data(),
                                           {0, kCount, kCount});
      ASSERT_EQ(
          device_forward(function(named.function), steps, type, x, {.random = PhiloxState{5, 6}})
              .codes,
          expected)
          << named.function << ' ' << named.table->name << ' ' << type_name(type);
    }
  }
}

TEST(CudaForward, GivesTheSameValuesWithAndWithoutCodesInPlaceAndUnaligned) {
  const SyntheticTable table(3, 9, 3);
  for (const Activation& activation : activations()) {
    for (const ElementType type : kTypes) {
      const auto x = bytes_of(normal_inputs(2100, 4), type);
      const auto expected = device_forward(activation, table.view(), type, x).y;
      for (const How how : {How{.keeps_codes = false}, How{.in_place = true}, How{.offset = 1}}) {
        ASSERT_EQ(device_forward(activation, table.view(), type, x, how).y, expected)
            << activation.name << ' ' << type_name(type);
      }
    }
  }
}

TEST(CudaForward, DoesNotDependOnTheOrderOfThreads) {
  for (const int bits : {1, 3, 5, 8}) {
    const SyntheticTable table(bits, 9, 3);
    for (const ElementType type : kTypes) {
      const auto x = bytes_of(normal_inputs(9000, 4), type);
      const Forward expected = device_forward(function("relu"), table.view(), type, x);
      emulator::order = emulator::Order::descending;
      const Forward found = device_forward(function("relu"), table.view(), type, x);
      emulator::order = emulator::Order::ascending;
      EXPECT_EQ(found.codes, expected.codes);
      EXPECT_EQ(found.y, expected.y);
    }
  }
}

}  // namespace fewbit::kernels::cuda::forward_test
