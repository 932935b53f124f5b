// Backward of the CUDA kernels: the CPU kernels' gradients, bit for bit.
#include <gtest/gtest.h>

#include "tests/cuda/support.hpp"

namespace fewbit::kernels::cuda::backward_test {

std::vector<uint8_t> random_codes(int64_t count, int bits) {
  const SyntheticTable table(bits, 40, static_cast<uint32_t>(bits));
  const auto x = bytes_of(normal_inputs(count, 8), ElementType::f32);
  return run_forward(*kernels::find_activation("relu"), table.view(), ElementType::f32, x).codes;
}

TEST(CudaBackward, IsTheCpusForEveryWidthTypeCountAndAlignment) {
  for (int bits = 1; bits <= 8; ++bits) {
    const SyntheticTable table(bits, 40, static_cast<uint32_t>(bits));
    for (const int64_t count : telling_counts()) {
      const std::vector<uint8_t> codes = random_codes(count, bits);
      for (const ElementType type : kTypes) {
        const auto dy = bytes_of(normal_inputs(count, 9), type);
        const auto expected = run_backward(table.view(), type, dy, codes);
        for (const How how : {How{}, How{.offset = 1}, How{.in_place = true}}) {
          ASSERT_EQ(device_backward(table.view(), type, dy, codes, how), expected)
              << bits << " bits, " << count << ' ' << type_name(type) << ", offset " << how.offset;
        }
      }
    }
  }
}

TEST(CudaBackward, TakesCodesThatTheTableDoesNotHaveForZeroLevels) {
  SyntheticTable table(3, 9, 3);
  table.levels.resize(5);
  const std::vector<uint8_t> codes = random_codes(2100, 3);
  for (const ElementType type : kTypes) {
    const auto dy = bytes_of(normal_inputs(2100, 9), type);
    EXPECT_EQ(device_backward(table.view(), type, dy, codes),
              run_backward(table.view(), type, dy, codes));
  }
}

TEST(CudaBackward, OfZeroLevelsIsTheCpusWhateverTheGradientIs) {
  std::vector<double> dy;
  for (int i = 0; i < 2100; ++i) {
    const double ends[] = {NAN, -NAN, INFINITY, -INFINITY, -0.0, 3.0, -1.7};
    dy.push_back(ends[i % 7]);
  }
  const std::vector<uint8_t> codes = random_codes(2100, 1);
  for (const float zero : {0.0f, -0.0f}) {
    const float levels[] = {zero, 0.1f};
    const double wide_levels[] = {static_cast<double>(zero), 0.1};
    StepView steps{1, false, 0, nullptr, nullptr, 2, levels};
    steps.wide_levels = wide_levels;
    for (const ElementType type : kTypes) {
      for (const How how : {How{}, How{.offset = 1}}) {
        EXPECT_EQ(device_backward(steps, type, bytes_of(dy, type), codes, how),
                  run_backward(steps, type, bytes_of(dy, type), codes))
            << type_name(type);
      }
    }
  }
}

TEST(CudaBackward, DoesNotDependOnTheOrderOfThreads) {
  for (const int bits : {3, 8}) {
    const SyntheticTable table(bits, 40, 1);
    const std::vector<uint8_t> codes = random_codes(9000, bits);
    const auto dy = bytes_of(normal_inputs(9000, 9), ElementType::bf16);
    const auto expected = device_backward(table.view(), ElementType::bf16, dy, codes);
    emulator::order = emulator::Order::descending;
    EXPECT_EQ(device_backward(table.view(), ElementType::bf16, dy, codes), expected);
    emulator::order = emulator::Order::ascending;
  }
}

}  // namespace fewbit::kernels::cuda::backward_test
