// Exact codes of integers: every width and type, what does not fit, ranges, memory.
#include "kernels/quantizer/integers.hpp"

#include <gtest/gtest.h>

#include "tests/kernels/support.hpp"

namespace fewbit::kernels::integers_test {

constexpr IntegerType kTypes[] = {IntegerType::boolean, IntegerType::u8, IntegerType::i32,
                                  IntegerType::i64};
constexpr int64_t kCounts[] = {1, 7, 8, 63, 64, 65, 511, 512, 513, 1024, 10000};

/// The least number of a type and the bits of its own.
struct Limits {
  int64_t lowest;
  int bits;
};

Limits limits_of(IntegerType type) {
  switch (type) {
    case IntegerType::boolean:
      return {0, 1};
    case IntegerType::u8:
      return {0, 8};
    case IntegerType::i32:
      return {std::numeric_limits<int32_t>::min(), 32};
    default:
      return {std::numeric_limits<int64_t>::min(), 32};
  }
}

std::vector<uint8_t> integer_bytes(const std::vector<int64_t>& values, IntegerType type) {
  std::vector<uint8_t> bytes;
  for (const int64_t value : values) {
    for (int64_t byte = 0; byte < element_bytes(type); ++byte) {
      bytes.push_back(static_cast<uint8_t>(value >> 8 * byte));
    }
  }
  return bytes;
}

/// Distances of `bits` bits from `minimum`, the first and the last of them among them.
std::vector<int64_t> integers(int64_t count, int64_t minimum, int bits) {
  std::mt19937_64 random(static_cast<uint64_t>(count * 64 + bits));
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  std::vector<int64_t> values;
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t distance = i == 0 ? mask : i == 1 ? 0 : random() & mask;
    values.push_back(static_cast<int64_t>(static_cast<uint64_t>(minimum) + distance));
  }
  return values;
}

std::vector<uint8_t> integer_stream(const std::vector<int64_t>& values, int64_t minimum, int bits) {
  const auto count = static_cast<int64_t>(values.size());
  std::vector<uint8_t> stream(static_cast<size_t>(code_bytes(count, bits)), 0);
  for (int64_t place = 0; place < count * bits; ++place) {
    const uint64_t distance = static_cast<uint64_t>(values[static_cast<size_t>(place / bits)]) -
                              static_cast<uint64_t>(minimum);
    stream[static_cast<size_t>(place / 8)] |=
        static_cast<uint8_t>((distance >> place % bits & 1) << place % 8);
  }
  return stream;
}

/// In a vector of their own, so that a sanitizer sees what is read or written beside it.
void expect_exact(IntegerType type, const std::vector<int64_t>& values, int64_t minimum, int bits) {
  const auto count = static_cast<int64_t>(values.size());
  const std::vector<uint8_t> x = integer_bytes(values, type);
  const std::vector<uint8_t> wanted = integer_stream(values, minimum, bits);
  for_each_target([&](int64_t target) {
    std::vector<uint8_t> codes(wanted.size(), 0xFF);
    ASSERT_TRUE(integer_encode(type, x.data(), minimum, bits, codes.data(), {0, count, count}));
    ASSERT_EQ(codes, wanted) << bits << " bits, " << count << ' ' << hwy::TargetName(target);
    std::vector<uint8_t> back(x.size(), 0xAB);
    integer_decode(type, codes.data(), minimum, bits, back.data(), {0, count, count});
    ASSERT_EQ(back, x) << bits << " bits, " << count << ' ' << hwy::TargetName(target);
  });
}

TEST(Integers, ComeBackExactlyForEveryTypeWidthAndSize) {
  for (const IntegerType type : kTypes) {
    const Limits limits = limits_of(type);
    for (int bits = 0; bits <= limits.bits; ++bits) {
      for (const int64_t count : kCounts) {
        expect_exact(type, integers(count, limits.lowest, bits), limits.lowest, bits);
      }
    }
  }
}

TEST(Integers, ComeBackFromEveryPlaceOfTheirType) {
  for (const int64_t minimum : {int64_t{-1}, int64_t{5}, int64_t{1} << 40, -(int64_t{1} << 62),
                                std::numeric_limits<int64_t>::max() - 1000}) {
    expect_exact(IntegerType::i64, integers(2000, minimum, 9), minimum, 9);
  }
  for (const int64_t minimum : {-3, 100, 2147483647 - 511}) {
    expect_exact(IntegerType::i32, integers(2000, minimum, 9), minimum, 9);
  }
  expect_exact(IntegerType::u8, integers(2000, 200, 5), 200, 5);
}

TEST(Integers, TakeTheLeastBitsThatHoldTheirDistances) {
  EXPECT_EQ(integer_bits(7, 7), 0);
  EXPECT_EQ(integer_bits(7, 8), 1);
  EXPECT_EQ(integer_bits(-1, 254), 8);
  EXPECT_EQ(integer_bits(-1, 255), 9);
  EXPECT_EQ(integer_bits(-2147483648LL, 2147483647), 32);
  EXPECT_EQ(integer_bits(0, int64_t{1} << 32), 33);
  EXPECT_EQ(integer_bits(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()),
            64);
}

TEST(Integers, ThatDoNotFitAreToldAndLeaveTheirNeighboursRight) {
  for (const int bits : {0, 1, 3, 8, 9, 31, 32}) {
    const int64_t above = 10 + (int64_t{1} << bits);
    for (const int64_t bad : {int64_t{9}, above, std::numeric_limits<int64_t>::min()}) {
      std::vector<int64_t> values = integers(1300, 10, bits);
      const std::vector<uint8_t> wanted = integer_stream(values, 10, bits);
      values[700] = bad;
      const std::vector<uint8_t> x = integer_bytes(values, IntegerType::i64);
      std::vector<uint8_t> codes(wanted.size(), 0xFF);
      EXPECT_FALSE(
          integer_encode(IntegerType::i64, x.data(), 10, bits, codes.data(), {0, 1300, 1300}));
      for (int64_t place = 0; place < 1300 * bits; ++place) {
        if (place / bits == 700) continue;
        const auto byte = static_cast<size_t>(place / 8);
        ASSERT_EQ(codes[byte] >> place % 8 & 1, wanted[byte] >> place % 8 & 1) << place;
      }
    }
  }
}

TEST(Integers, DoNotDependOnTheSplitIntoRangesNorOnTheirOrder) {
  constexpr int64_t kCount = 10 * kBlock + 77;
  for (const int bits : {1, 7, 8, 17, 32}) {
    const std::vector<int64_t> values = integers(kCount, -5, bits);
    const std::vector<uint8_t> x = integer_bytes(values, IntegerType::i64);
    const std::vector<uint8_t> wanted = integer_stream(values, -5, bits);
    std::vector<uint8_t> codes(wanted.size(), 0xFF);
    std::vector<uint8_t> back(x.size());
    const int64_t borders[] = {0, kBlock, 2 * kBlock, 7 * kBlock, 10 * kBlock, kCount};
    for (const int part : {3, 0, 4, 2, 1}) {
      EXPECT_TRUE(integer_encode(IntegerType::i64, x.data(), -5, bits, codes.data(),
                                 {borders[part], borders[part + 1], kCount}));
    }
    EXPECT_EQ(codes, wanted);
    for (const int part : {3, 0, 4, 2, 1}) {
      integer_decode(IntegerType::i64, codes.data(), -5, bits, back.data(),
                     {borders[part], borders[part + 1], kCount});
    }
    EXPECT_EQ(back, x);
  }
}

TEST(Integers, CountEveryByteOfABooleanButZeroAsTrue) {
  std::vector<uint8_t> x(256);
  for (size_t i = 0; i < 256; ++i) x[i] = static_cast<uint8_t>(i);
  std::vector<uint8_t> codes(static_cast<size_t>(code_bytes(256, 1)));
  EXPECT_TRUE(integer_encode(IntegerType::boolean, x.data(), 0, 1, codes.data(), {0, 256, 256}));
  for (int64_t i = 0; i < 256; ++i) EXPECT_EQ(code_at(codes, 1, i), i != 0);
}

}  // namespace fewbit::kernels::integers_test
