// The code stream: its size, every bit of it, its zeros, any count, any alignment, any split.
#include <algorithm>

#include <gtest/gtest.h>

#include "tests/kernels/support.hpp"

namespace fewbit::kernels::stream_test {

const Activation& relu() {
  return *find_activation("relu");
}

TEST(CodeStream, IsBitsTimesCountRoundedUpTo16Bytes) {
  EXPECT_EQ(code_bytes(0, 3), 0);
  EXPECT_EQ(code_bytes(1, 1), 16);
  EXPECT_EQ(code_bytes(128, 1), 16);
  EXPECT_EQ(code_bytes(129, 1), 32);
  EXPECT_EQ(code_bytes(42, 3), 16);
  EXPECT_EQ(code_bytes(43, 3), 32);
  EXPECT_EQ(code_bytes(16, 8), 16);
  EXPECT_EQ(code_bytes(int64_t{1} << 60, 7), int64_t{7} << 57);
}

TEST(CodeStream, HoldsEveryCodeOfEveryWidthAndTableSize) {
  const std::vector<double> x =
      elements(bytes_of(normal_inputs(5000, 1), ElementType::f32), ElementType::f32);
  for (int bits = 1; bits <= 8; ++bits) {
    for (const int thresholds : {0, 1, 2, 7, 15, 31, 32, 33, 48, 49, 64, 255, 300, 700}) {
      SyntheticTable table(bits, thresholds, static_cast<uint32_t>(bits * 1000 + thresholds));
      for (const bool even : {false, true}) {
        table.even = even;
        const StepView steps = table.view();
        const std::vector<uint8_t> expected = reference_stream(steps, x);
        for_each_target([&](int64_t target) {
          const Forward result =
              run_forward(relu(), steps, ElementType::f32, bytes_of(x, ElementType::f32));
          ASSERT_EQ(result.codes, expected)
              << bits << " bits, " << thresholds << " thresholds, " << hwy::TargetName(target);
        });
      }
    }
  }
}

TEST(CodeStream, HoldsTheCodesOfTablesFarFromZeroAndOfTinyOnes) {
  for (const float offset : {0.0f, 1.0f, -300.0f, 1e6f, 2.1e7f, -3e7f, 5.3e7f, -1.37e8f, 1e20f}) {
    for (const float scale : {1e-30f, 1e-6f, 0.3f, 1.0f, 3.0f, 11.0f, 1e6f, 1e20f, 1e35f}) {
      SyntheticTable table(3, 9, 17);
      std::vector<double> x;
      for (float& t : table.thresholds) {
        t = offset + scale * t;
        x.push_back(static_cast<double>(t));
        x.push_back(static_cast<double>(std::nextafter(t, INFINITY)));
        x.push_back(static_cast<double>(std::nextafter(t, -INFINITY)));
      }
      for (const double value : normal_inputs(500, 18)) {
        const float wide = offset + scale * static_cast<float>(value);
        x.push_back(static_cast<double>(wide));
      }
      for_each_target([&](int64_t target) {
        const Forward result =
            run_forward(relu(), table.view(), ElementType::f32, bytes_of(x, ElementType::f32));
        ASSERT_EQ(result.codes, reference_stream(table.view(), x))
            << offset << ' ' << scale << ' ' << hwy::TargetName(target);
      });
    }
  }
}

TEST(CodeStream, IsRightForEveryCountUpToTwoBlocksAndZeroAfterTheLastCode) {
  const std::vector<double> all =
      elements(bytes_of(normal_inputs(1100, 2), ElementType::bf16), ElementType::bf16);
  for (const int bits : {1, 3, 5, 8}) {
    const SyntheticTable table(bits, 20, 7);
    for (size_t count = 0; count <= all.size(); ++count) {
      const std::vector<double> x(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
      const auto bytes = bytes_of(x, ElementType::bf16);
      const Forward result = run_forward(relu(), table.view(), ElementType::bf16, bytes);
      ASSERT_EQ(result.codes, reference_stream(table.view(), x)) << count;
      for (size_t i = 0; i < count; ++i) {
        ASSERT_EQ(element(result.y, ElementType::bf16, static_cast<int64_t>(i)),
                  std::max(x[i], 0.0));
      }
    }
  }
}

/// x and y at any multiple of their type's size, codes at any byte, guard bytes around what is
/// written.
TEST(CodeStream, NeedsNoAlignmentBeyondTheTypesAndWritesNothingBesideItsOwn) {
  constexpr int64_t kCount = 1500;
  for (const ElementType type : {ElementType::f32, ElementType::bf16, ElementType::f16}) {
    const std::vector<uint8_t> x = bytes_of(normal_inputs(kCount, 3), type);
    const SyntheticTable table(3, 9, 5);
    const Forward expected = run_forward(relu(), table.view(), type, x);
    const size_t y_size = x.size();
    const size_t code_size = expected.codes.size();
    const auto size = static_cast<size_t>(element_bytes(type));
    for (size_t shift = size; shift < 64; shift += 3 * size) {
      for_each_target([&](int64_t target) {
        std::vector<uint8_t> from(y_size + 128, 0);
        std::vector<uint8_t> to(y_size + 128, 0xAB);
        std::vector<uint8_t> codes(code_size + 128, 0xAB);
        std::copy(x.begin(), x.end(), from.begin() + static_cast<std::ptrdiff_t>(shift));
        activation_forward(relu(), nullptr, table.view(), type, from.data() + shift,
                           to.data() + shift, codes.data() + shift - 1, {0, kCount, kCount});
        std::vector<uint8_t> wanted(to.size(), 0xAB);
        std::copy(expected.y.begin(), expected.y.end(),
                  wanted.begin() + static_cast<std::ptrdiff_t>(shift));
        ASSERT_EQ(to, wanted) << hwy::TargetName(target);
        wanted.assign(codes.size(), 0xAB);
        std::copy(expected.codes.begin(), expected.codes.end(),
                  wanted.begin() + static_cast<std::ptrdiff_t>(shift - 1));
        ASSERT_EQ(codes, wanted) << hwy::TargetName(target);
      });
    }
  }
}

TEST(CodeStream, DoesNotDependOnTheSplitIntoRangesNorOnTheirOrder) {
  constexpr int64_t kCount = 10 * kBlock + 77;
  const SyntheticTable table(3, 9, 5);
  const std::vector<uint8_t> x = bytes_of(normal_inputs(kCount, 4), ElementType::f32);
  const Forward expected = run_forward(relu(), table.view(), ElementType::f32, x);
  Forward split{std::vector<uint8_t>(x.size()), std::vector<uint8_t>(expected.codes.size(), 0xFF)};
  const int64_t borders[] = {0, kBlock, 2 * kBlock, 7 * kBlock, 10 * kBlock, kCount};
  for (const int part : {3, 0, 4, 2, 1}) {
    activation_forward(relu(), nullptr, table.view(), ElementType::f32, x.data(), split.y.data(),
                       split.codes.data(), {borders[part], borders[part + 1], kCount});
  }
  EXPECT_EQ(split.y, expected.y);
  EXPECT_EQ(split.codes, expected.codes);
}

TEST(CodeStream, InPlaceAndValueOnlyPassesGiveTheSameValues) {
  for (const ElementType type : {ElementType::f32, ElementType::bf16, ElementType::f16}) {
    const SyntheticTable table(4, 15, 9);
    std::vector<uint8_t> x = bytes_of(normal_inputs(3000, 5), type);
    const Activation& gelu = *find_activation("gelu");
    const Forward expected = run_forward(gelu, table.view(), type, x);
    std::vector<uint8_t> y(x.size());
    activation_forward(gelu, nullptr, {}, type, x.data(), y.data(), nullptr, {0, 3000, 3000});
    EXPECT_EQ(y, expected.y);
    std::vector<uint8_t> codes(expected.codes.size());
    activation_forward(gelu, nullptr, table.view(), type, x.data(), x.data(), codes.data(),
                       {0, 3000, 3000});
    EXPECT_EQ(x, expected.y);
    EXPECT_EQ(codes, expected.codes);
  }
}

}  // namespace fewbit::kernels::stream_test
