#include <gtest/gtest.h>

#include "tests/kernels/support.hpp"

namespace fewbit::kernels::backward_test {

constexpr ElementType kTypes[] = {ElementType::f32, ElementType::bf16, ElementType::f16,
                                  ElementType::f64};

/// level * dy rounded once to the type.
double product(float level, double dy, ElementType type) {
  if (type == ElementType::f64) return static_cast<double>(level) * dy;
  const float exact = level * static_cast<float>(dy);
  return element(bytes_of({static_cast<double>(exact)}, type), type, 0);
}

TEST(Backward, MultipliesByTheLevelOfEveryCodeOfEveryWidth) {
  for (int bits = 1; bits <= 8; ++bits) {
    const SyntheticTable table(bits, 40, static_cast<uint32_t>(bits));
    const auto codes_of = bytes_of(normal_inputs(2077, 8), ElementType::f32);
    const Forward pass =
        run_forward(*find_activation("relu"), table.view(), ElementType::f32, codes_of);
    for (const ElementType type : kTypes) {
      const std::vector<uint8_t> dy = bytes_of(normal_inputs(2077, 9), type);
      for_each_target([&](int64_t target) {
        const std::vector<uint8_t> dx = run_backward(table.view(), type, dy, pass.codes);
        for (int64_t i = 0; i < 2077; ++i) {
          const float level = table.levels[code_at(pass.codes, bits, i)];
          ASSERT_EQ(element(dx, type, i), product(level, element(dy, type, i), type))
              << type_name(type) << ", " << bits << " bits, element " << i << ", "
              << hwy::TargetName(target);
        }
      });
    }
  }
}

TEST(Backward, IsRightForEveryCountAndReadsOnlyItsStream) {
  const SyntheticTable table(3, 9, 3);
  for (int64_t count = 0; count <= 1100; ++count) {
    const auto x = bytes_of(normal_inputs(count, 11), ElementType::bf16);
    const Forward pass = run_forward(*find_activation("relu"), table.view(), ElementType::bf16, x);
    const std::vector<uint8_t> dx = run_backward(table.view(), ElementType::bf16, x, pass.codes);
    for (int64_t i = 0; i < count; ++i) {
      ASSERT_EQ(element(dx, ElementType::bf16, i),
                product(table.levels[code_at(pass.codes, 3, i)], element(x, ElementType::bf16, i),
                        ElementType::bf16));
    }
  }
}

TEST(Backward, InRangesAndInPlaceGivesTheSame) {
  constexpr int64_t kCount = 6 * kBlock + 5;
  const SyntheticTable table(5, 31, 3);
  for (const ElementType type : kTypes) {
    std::vector<uint8_t> dy = bytes_of(normal_inputs(kCount, 12), type);
    const Forward pass = run_forward(*find_activation("relu"), table.view(), ElementType::f32,
                                     bytes_of(normal_inputs(kCount, 13), ElementType::f32));
    const std::vector<uint8_t> expected = run_backward(table.view(), type, dy, pass.codes);
    const int64_t borders[] = {0, 2 * kBlock, 6 * kBlock, kCount};
    for (const int part : {2, 0, 1}) {
      activation_backward(table.view(), type, dy.data(), pass.codes.data(), dy.data(),
                          {borders[part], borders[part + 1], kCount});
    }
    EXPECT_EQ(dy, expected);
  }
}

TEST(Backward, GivesPlusZeroForZeroLevelsWhateverTheGradientIs) {
  const float levels[] = {0.0f, 0.5f, 1.0f};
  const StepView steps{2, false, 0, nullptr, nullptr, 3, levels};
  const std::vector<uint8_t> codes = {0b11100100, 0b11100100, 0, 0, 0, 0, 0, 0,
                                      0,          0,          0, 0, 0, 0, 0, 0};
  for (const ElementType type : kTypes) {
    for (const double dy : std::vector<double>{3.0, -3.0, 0.0, -0.0, INFINITY, -INFINITY, NAN}) {
      for_each_target([&](int64_t target) {
        const auto dx =
            run_backward(steps, type, bytes_of(std::vector<double>(8, dy), type), codes);
        const std::vector<double> expected = {0.0, 0.5 * dy, dy, 0.0};  // the last: no such level
        const auto bytes = bytes_of({expected[0], expected[1], expected[2], expected[3],
                                     expected[0], expected[1], expected[2], expected[3]},
                                    type);
        EXPECT_EQ(dx, bytes) << type_name(type) << ' ' << dy << ' ' << hwy::TargetName(target);
      });
    }
  }
}

TEST(Backward, MultipliesByALevelOfMinusZeroAsByZero) {
  const float levels[] = {-0.0f, 1.0f};
  const StepView steps{1, false, 0, nullptr, nullptr, 2, levels};
  for (const ElementType type : kTypes) {
    for_each_target([&](int64_t target) {
      const auto dy = bytes_of({3.0, -3.0, INFINITY}, type);
      const auto dx = elements(run_backward(steps, type, dy, std::vector<uint8_t>(16, 0)), type);
      EXPECT_TRUE(dx[0] == 0.0 && !std::signbit(dx[0])) << hwy::TargetName(target);
      EXPECT_TRUE(dx[1] == 0.0 && std::signbit(dx[1])) << hwy::TargetName(target);
      EXPECT_TRUE(std::isnan(dx[2])) << hwy::TargetName(target);
    });
  }
}

TEST(Backward, TakesTheLevelsOfDoublesForDoublesAlone) {
  const float levels[] = {0.0f, 0.1f};
  const double wide_levels[] = {0.0, 0.1};
  StepView steps{1, false, 0, nullptr, nullptr, 2, levels};
  steps.wide_levels = wide_levels;
  const std::vector<uint8_t> codes(16, 0b10);
  for_each_target([&](int64_t) {
    for (const ElementType type : kTypes) {
      const auto dx = run_backward(steps, type, bytes_of({3.0, 3.0}, type), codes);
      const double exact = type == ElementType::f64 ? 0.1 * 3.0 : static_cast<double>(0.1f * 3.0f);
      EXPECT_EQ(dx, bytes_of({0.0, exact}, type)) << type_name(type);
    }
  });
}

}  // namespace fewbit::kernels::backward_test
