// dx is the level of the code times dy.
#include "tests/gpu/gpu_test.hpp"

namespace fewbit::kernels::cuda {

namespace {

Bytes random_bytes(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  Bytes bytes(static_cast<size_t>(count));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

void expect_gradient(const StepView& steps, ElementType type, int64_t count, uint32_t seed) {
  const Bytes dy = bytes_of(normal_inputs(count, seed), type);
  const Bytes codes = random_bytes(code_bytes(count, steps.bits), seed);
  const Bytes dx = run_backward(steps, type, dy, codes);
  const Bytes expected = reference_backward(steps, type, dy, codes);
  expect(dx == expected, steps.bits, "bits", type_name(type), count, "elements: byte",
         first_difference(dx, expected));
}

}  // namespace

GPU_TEST(gradients_are_level_times_dy_for_1_to_8_bits, Cost::small) {
  for (int bits = 1; bits <= 8; ++bits) {
    const SyntheticTable table(bits, 3, static_cast<uint32_t>(bits));
    for (const ElementType type : kTypes) {
      expect_gradient(table.view(), type, 10000, static_cast<uint32_t>(bits));
    }
  }
}

GPU_TEST(codes_without_a_level_count_as_zero, Cost::small) {
  for (int bits = 2; bits <= 8; ++bits) {
    SyntheticTable table(bits, 3, static_cast<uint32_t>(bits));
    table.levels.resize((size_t{1} << (bits - 1)) + 1);
    for (const ElementType type : kTypes) {
      expect_gradient(table.view(), type, 5000, static_cast<uint32_t>(20 + bits));
    }
  }
}

GPU_TEST(nan_and_infinite_gradients_stay, Cost::small) {
  const SyntheticTable table(3, 3, 1);
  const Bytes codes = random_bytes(code_bytes(2096, 3), 9);
  for (const ElementType type : kTypes) {
    std::vector<double> dy(2096, NAN);
    std::fill(dy.begin(), dy.begin() + 48, INFINITY);
    const auto dx = elements(run_backward(table.view(), type, bytes_of(dy, type), codes), type);
    for (size_t i = 0; i < 2096; ++i) {
      expect(i < 48 ? std::isinf(dx[i]) : std::isnan(dx[i]), type_name(type), "element", i, "is",
             dx[i]);
    }
  }
}

}  // namespace fewbit::kernels::cuda
