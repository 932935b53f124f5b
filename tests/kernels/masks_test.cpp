// Masks in one bit: all bit patterns, any count, memory and split.
#include <gtest/gtest.h>

#include "kernels/quantizer/integers.hpp"
#include "tests/kernels/inputs.hpp"
#include "tests/kernels/support.hpp"

namespace fewbit::kernels::masks_test {

constexpr ElementType kTypes[] = {ElementType::f32, ElementType::bf16, ElementType::f16,
                                  ElementType::f64};

std::vector<uint8_t> encoded(ElementType type, const std::vector<uint8_t>& x) {
  const int64_t count = static_cast<int64_t>(x.size()) / element_bytes(type);
  std::vector<uint8_t> codes(static_cast<size_t>(code_bytes(count, 1)), 0xFF);
  sign_encode(type, x.data(), codes.data(), {0, count, count});
  return codes;
}

std::vector<uint8_t> stream_of(const std::vector<double>& x) {
  const auto count = static_cast<int64_t>(x.size());
  std::vector<uint8_t> stream(static_cast<size_t>(code_bytes(count, 1)), 0);
  for (size_t i = 0; i < x.size(); ++i) {
    stream[i / 8] |= static_cast<uint8_t>((x[i] > 0.0) << i % 8);
  }
  return stream;
}

void expect_mask(ElementType type, const std::vector<uint8_t>& x) {
  std::vector<double> mask = elements(x, type);
  const std::vector<uint8_t> wanted = stream_of(mask);
  for (double& value : mask) value = value > 0.0 ? 1.0 : 0.0;
  const auto count = static_cast<int64_t>(mask.size());
  for_each_target([&](int64_t target) {
    const std::vector<uint8_t> codes = encoded(type, x);
    ASSERT_EQ(codes, wanted) << type_name(type) << ' ' << count << ' ' << hwy::TargetName(target);
    std::vector<uint8_t> back(x.size(), 0xAB);
    sign_decode(type, codes.data(), back.data(), {0, count, count});
    ASSERT_EQ(back, bytes_of(mask, type))
        << type_name(type) << ' ' << count << ' ' << hwy::TargetName(target);
  });
}

TEST(Masks, AreWhatIsGreaterThanZeroOfAll16BitInputs) {
  expect_mask(ElementType::bf16, every_half());
  expect_mask(ElementType::f16, every_half());
}

TEST(Masks, AreWhatIsGreaterThanZeroOfFloatsAndDoublesAtTheirLimits) {
  const std::vector<double> x = {0.0,     -0.0,   1.0,     -1.0,   INFINITY, -INFINITY,
                                 NAN,     -NAN,   1e-45,   -1e-45, 5e-324,   -5e-324,
                                 1.2e-38, 3.4e38, -3.4e38, 1e300,  -1e300,   1e-300};
  for (const ElementType type : {ElementType::f32, ElementType::f64}) {
    for (size_t shift = 0; shift < x.size(); ++shift) {
      std::vector<double> rotated = x;
      std::rotate(rotated.begin(), rotated.begin() + static_cast<std::ptrdiff_t>(shift),
                  rotated.end());
      expect_mask(type, bytes_of(rotated, type));
    }
  }
}

TEST(Masks, AreRightForEveryCountUpToTwoBlocksAndZeroAfterTheLast) {
  const std::vector<double> all = normal_inputs(1100, 6);
  for (const ElementType type : kTypes) {
    for (size_t count = 1; count <= all.size(); count += count < 140 ? 1 : 37) {
      expect_mask(type,
                  bytes_of({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)}, type));
    }
    expect_mask(type, bytes_of(normal_inputs(10000, 7), type));
  }
}

TEST(Masks, NeedNoAlignmentBeyondTheTypesAndWriteNothingBesideTheirOwn) {
  constexpr int64_t kCount = 1500;
  for (const ElementType type : kTypes) {
    const std::vector<uint8_t> x = bytes_of(normal_inputs(kCount, 8), type);
    const std::vector<uint8_t> wanted = encoded(type, x);
    const auto size = static_cast<size_t>(element_bytes(type));
    for (size_t shift = size; shift < 64; shift += 3 * size) {
      for_each_target([&](int64_t target) {
        std::vector<uint8_t> from(x.size() + 128, 0);
        std::vector<uint8_t> codes(wanted.size() + 128, 0xAB);
        std::vector<uint8_t> to(x.size() + 128, 0xAB);
        std::copy(x.begin(), x.end(), from.begin() + static_cast<std::ptrdiff_t>(shift));
        sign_encode(type, from.data() + shift, codes.data() + shift - 1, {0, kCount, kCount});
        std::vector<uint8_t> guarded(codes.size(), 0xAB);
        std::copy(wanted.begin(), wanted.end(),
                  guarded.begin() + static_cast<std::ptrdiff_t>(shift - 1));
        ASSERT_EQ(codes, guarded) << hwy::TargetName(target);
        sign_decode(type, codes.data() + shift - 1, to.data() + shift, {0, kCount, kCount});
        for (size_t i = 0; i < to.size(); ++i) {
          const bool is_beside = i < shift || i >= shift + x.size();
          ASSERT_TRUE(!is_beside || to[i] == 0xAB) << i;
        }
      });
    }
  }
}

TEST(Masks, DoNotDependOnTheSplitIntoRangesNorOnTheirOrder) {
  constexpr int64_t kCount = 10 * kBlock + 77;
  for (const ElementType type : kTypes) {
    const std::vector<uint8_t> x = bytes_of(normal_inputs(kCount, 9), type);
    const std::vector<uint8_t> wanted = encoded(type, x);
    std::vector<uint8_t> whole(x.size());
    sign_decode(type, wanted.data(), whole.data(), {0, kCount, kCount});
    std::vector<uint8_t> codes(wanted.size(), 0xFF);
    std::vector<uint8_t> back(x.size());
    const int64_t borders[] = {0, kBlock, 2 * kBlock, 7 * kBlock, 10 * kBlock, kCount};
    for (const int part : {3, 0, 4, 2, 1}) {
      const Range range{borders[part], borders[part + 1], kCount};
      sign_encode(type, x.data(), codes.data(), range);
      sign_decode(type, wanted.data(), back.data(), range);
    }
    EXPECT_EQ(codes, wanted);
    EXPECT_EQ(back, whole);
  }
}

TEST(Masks, OfBooleansComeBackAsTheyAre) {
  std::mt19937 random(5);
  for (const int64_t count : {1, 63, 64, 65, 511, 512, 513, 10000}) {
    std::vector<uint8_t> x(static_cast<size_t>(count));
    std::vector<double> values;
    for (uint8_t& value : x) values.push_back(value = static_cast<uint8_t>(random() & 1));
    for_each_target([&](int64_t target) {
      std::vector<uint8_t> codes(static_cast<size_t>(code_bytes(count, 1)), 0xFF);
      std::vector<uint8_t> back(x.size(), 0xAB);
      mask_encode(reinterpret_cast<const bool*>(x.data()), codes.data(), {0, count, count});
      ASSERT_EQ(codes, stream_of(values)) << hwy::TargetName(target);
      mask_decode(codes.data(), reinterpret_cast<bool*>(back.data()), {0, count, count});
      ASSERT_EQ(back, x) << hwy::TargetName(target);
    });
  }
}

}  // namespace fewbit::kernels::masks_test
