// The functions that CUDA kernels find codes by, lane after lane: the CPU kernels' codes, bit for
// bit.
#include <gtest/gtest.h>

#include "tests/cuda/warp.hpp"
#include "tests/kernels/inputs.hpp"

namespace fewbit::kernels::cuda::codes_test {

using enum ElementType;

Bytes cpu_codes(const StepView& steps, ElementType type, const Bytes& x) {
  return run_forward(*kernels::find_activation("relu"), steps, type, x).codes;
}

TEST(CudaCodes, OfEvery16BitInputAreTheCpusForEveryTable) {
  int summed = 0;
  for (const NamedTable& named : all_tables()) {
    const StepView steps = view_of(*named.table);
    if (steps.codes == nullptr) continue;
    for_types<bf16, f16>([&]<ElementType kType> {
      if (!is_summed(steps, kType)) return;
      ++summed;
      const StepSum sum = step_sum(steps, kType);
      const Bytes expected = cpu_codes(steps, kType, every_half());
      ASSERT_EQ(stream_of_tiles<kType>(sum, every_half()), expected)
          << named.function << ' ' << named.table->name << ' ' << type_name(kType);
    });
  }
  EXPECT_GT(summed, 500);
}

TEST(CudaCodes, OfEvery16BitInputAreTheCpusElementByElement) {
  for (const NamedTable& named : all_tables()) {
    const StepView steps = view_of(*named.table);
    if (steps.codes == nullptr || steps.bits != 3) continue;
    for_types<bf16, f16>([&]<ElementType kType> {
      const Bytes expected = cpu_codes(steps, kType, every_half());
      ASSERT_EQ(stream_of_elements<kType>(step_sum(steps, kType), every_half()), expected)
          << named.function << ' ' << named.table->name;
      ASSERT_EQ(stream_by_bisection<kType>(steps, every_half()), expected)
          << named.function << ' ' << named.table->name;
    });
  }
}

TEST(CudaCodes, OfFloatsAreTheCpusAtAndAroundEveryThreshold) {
  for (const NamedTable& named : all_tables()) {
    const StepView steps = view_of(*named.table);
    if (steps.codes == nullptr) continue;
    std::vector<double> x = around_thresholds<float>(steps);
    x.resize((x.size() + kTile - 1) / kTile * kTile, 0.25);
    const Bytes bytes = bytes_of(x, f32);
    const Bytes expected = cpu_codes(steps, f32, bytes);
    if (is_summed(steps, f32)) {
      const StepSum sum = step_sum(steps, f32);
      ASSERT_EQ(stream_of_tiles<f32>(sum, bytes), expected) << named.function << named.table->name;
      ASSERT_EQ(stream_of_elements<f32>(sum, bytes), expected) << named.function;
    }
    ASSERT_EQ(stream_by_bisection<f32>(steps, bytes), expected)
        << named.function << ' ' << named.table->name;
  }
}

TEST(CudaCodes, OfDoublesAreTheCpusBesideThresholdsToo) {
  for (const NamedTable& named : all_tables()) {
    const StepView steps = view_of(*named.table);
    if (steps.codes == nullptr) continue;
    const std::vector<double> x = around_thresholds<double>(steps);
    const Bytes bytes = bytes_of(x, f64);
    ASSERT_EQ(stream_by_bisection<f64>(steps, bytes), cpu_codes(steps, f64, bytes))
        << named.function << ' ' << named.table->name;
  }
}

TEST(CudaCodes, AreTheCpusForTablesOfEveryShape) {
  for (int bits = 1; bits <= 8; ++bits) {
    for (const int thresholds : {1, 2, 7, 14, 31, 48, 49, 255, 256, kMaxThresholds}) {
      for (const int shape : {0, 1, 2, 3}) {
        SyntheticTable table(bits, thresholds, static_cast<uint32_t>(bits * 2000 + thresholds));
        table.even = shape % 2 == 1;
        table.nan_code = shape < 2 ? -1 : (1 << bits) - 1 - table.codes[0];
        const StepView steps = table.view();
        std::vector<double> given = normal_inputs(2 * kTile, 3);
        for (size_t i = 0; i < given.size(); i += 7) given[i] = i % 2 == 0 ? NAN : -NAN;
        for_types<f32, bf16, f16>([&]<ElementType kType> {
          const Bytes x = bytes_of(given, kType);
          const Bytes expected = cpu_codes(steps, kType, x);
          ASSERT_EQ(stream_by_bisection<kType>(steps, x), expected)
              << bits << " bits, " << thresholds << " thresholds";
          if (!is_summed(steps, kType)) return;
          ASSERT_EQ(stream_of_tiles<kType>(step_sum(steps, kType), x), expected)
              << bits << " bits, " << thresholds << " thresholds, " << type_name(kType);
        });
      }
    }
  }
}

TEST(CudaCodes, OfDoublesAreTheCpusByThresholdsOfDoubles) {
  SyntheticTable table(3, 9, 4);
  std::vector<double> wide;
  for (const float t : table.thresholds) wide.push_back(static_cast<double>(t) + 1e-12);
  std::vector<double> x = wide;
  for (const double t : wide) x.push_back(std::nextafter(t, 10.0));
  x.push_back(NAN);
  table.nan_code = 5;
  StepView steps = table.view();
  steps.wide_thresholds = wide.data();
  const Bytes bytes = bytes_of(x, f64);
  EXPECT_EQ(stream_by_bisection<f64>(steps, bytes), cpu_codes(steps, f64, bytes));
}

TEST(CudaCodes, OfTailsAreTheCpusAndEndInZeros) {
  for (int bits = 1; bits <= 8; ++bits) {
    const SyntheticTable table(bits, 7, static_cast<uint32_t>(bits));
    for (int64_t count = 1; count <= kTile + 40; ++count) {
      const Bytes x = bytes_of(normal_inputs(count, 5), bf16);
      const Bytes expected = cpu_codes(table.view(), bf16, x);
      ASSERT_EQ(stream_by_bisection<bf16>(table.view(), x), expected)
          << bits << " bits, " << count << " elements";
      if (!is_summed(table.view(), bf16)) continue;
      ASSERT_EQ(stream_of_elements<bf16>(step_sum(table.view(), bf16), x), expected)
          << bits << " bits, " << count << " elements";
    }
  }
}

TEST(CudaCodes, CompareMirroredThresholdsOnce) {
  for (const ElementType type : {f32, bf16, f16}) {
    const StepSum gelu =
        step_sum(view_of(generated::gelu::tables::smoothed_normal_b3), type);  // nine thresholds
    EXPECT_EQ(gelu.end, 5) << type_name(type);
    EXPECT_EQ(gelu.count, 1);
    EXPECT_EQ(step_sum(view_of(generated::silu::tables::smoothed_normal_b3), type).count, 1);
  }
  // The first and the last mirror each other, but for one float between them.
  const float below = -std::nextafter(std::nextafter(1.0f, 2.0f), 2.0f);
  const float thresholds[] = {below, 0.5f, 1.0f};
  const uint8_t codes[] = {0, 1, 3, 2};
  const float levels[] = {0.0f, 1.0f, 2.0f, 3.0f};
  const StepView steps = {2, false, 3, thresholds, codes, 4, levels};
  EXPECT_EQ(step_sum(steps, f32).end, 3);
  EXPECT_EQ(step_sum(steps, bf16).end, 2);
}

TEST(CudaCodes, OfThresholdsAtTheEndsOfTheTypesAreTheCpus) {
  const std::vector<float> far = {-INFINITY, -3e38f, -65504.0f, -1e-40f, -0.0f,
                                  1e-45f,    1e-8f,  65519.0f,  3.4e38f, INFINITY};
  SyntheticTable table(4, static_cast<int>(far.size()), 7);
  table.thresholds = far;
  for_types<bf16, f16>([&]<ElementType kType> {
    ASSERT_EQ(stream_of_tiles<kType>(step_sum(table.view(), kType), every_half()),
              cpu_codes(table.view(), kType, every_half()))
        << type_name(kType);
  });
}

}  // namespace fewbit::kernels::cuda::codes_test
