// Exact codes on the device: masks and integers, the CPU kernels' codes and elements, bit for bit.
#include "kernels/quantizer/cuda/integers.hpp"

#include <gtest/gtest.h>

#include "tests/cuda/support.hpp"

namespace fewbit::kernels::cuda::integers_test {

using Bytes = std::vector<uint8_t>;

constexpr IntegerType kIntegers[] = {IntegerType::boolean, IntegerType::u8, IntegerType::i32,
                                     IntegerType::i64};
constexpr int64_t kCounts[] = {1, 7, 8, 31, 33, 200, 1023, 1024, 1025, 3000, 8192 + 1500};

Bytes random_bytes(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  Bytes bytes;
  for (int64_t i = 0; i < count; ++i) bytes.push_back(static_cast<uint8_t>(random()));
  return bytes;
}

/// Elements whose distances from `minimum` are below 2^`bits`, all bits set at first; booleans as
/// any byte.
Bytes integer_bytes(IntegerType type, int64_t minimum, int bits, int64_t count) {
  std::mt19937_64 random(static_cast<uint64_t>(count * 64 + bits));
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  Bytes bytes;
  for (int64_t i = 0; i < count; ++i) {
    uint64_t value = static_cast<uint64_t>(minimum) + (i == 0 ? mask : random() & mask);
    if (type == IntegerType::boolean && value != 0) value = 1 + random() % 255;
    for (int64_t byte = 0; byte < element_bytes(type); ++byte) {
      bytes.push_back(static_cast<uint8_t>(value >> 8 * byte));
    }
  }
  return bytes;
}

int bits_of(IntegerType type) {
  return type == IntegerType::boolean ? 1 : type == IntegerType::u8 ? 8 : kMaxIntegerBits;
}

int64_t lowest_of(IntegerType type) {
  return type == IntegerType::i32   ? std::numeric_limits<int32_t>::min()
         : type == IntegerType::i64 ? std::numeric_limits<int64_t>::min()
                                    : 0;
}

void expect_the_cpus(IntegerType type, int64_t minimum, int bits, int64_t count, size_t offset) {
  const Bytes x = integer_bytes(type, minimum, bits, count);
  const auto size = static_cast<size_t>(code_bytes(count, bits));
  Bytes expected(size, 0xFF);
  Bytes back(x.size());
  const Range all = {0, count, count};
  ASSERT_TRUE(kernels::integer_encode(type, x.data(), minimum, bits, expected.data(), all));
  kernels::integer_decode(type, expected.data(), minimum, bits, back.data(), all);
  Guarded in = guarded(x, offset * static_cast<size_t>(element_bytes(type)));
  Guarded codes(size, offset);
  Guarded out(x.size(), offset * static_cast<size_t>(element_bytes(type)));
  ASSERT_EQ(integer_encode(type, in.data(), minimum, bits, codes.data(), count, nullptr),
            cudaSuccess);
  ASSERT_EQ(codes.content(), expected)
      << static_cast<int>(type) << ", " << bits << " bits, " << count << ", offset " << offset;
  ASSERT_EQ(integer_decode(type, codes.data(), minimum, bits, out.data(), count, nullptr),
            cudaSuccess);
  ASSERT_EQ(out.content(), back) << static_cast<int>(type) << ", " << bits << " bits, " << count
                                 << ", offset " << offset;
  ASSERT_TRUE(in.is_intact() && codes.is_intact() && out.is_intact());
}

TEST(CudaIntegers, AreTheCpusForEveryTypeWidthAndCount) {
  for (const IntegerType type : kIntegers) {
    for (int bits = 0; bits <= bits_of(type); ++bits) {
      for (const int64_t count : kCounts) {
        for (const size_t offset : {0, 1}) {
          expect_the_cpus(type, lowest_of(type), bits, count, offset);
        }
      }
    }
  }
}

TEST(CudaIntegers, AreTheCpusFromAnyMinimum) {
  expect_the_cpus(IntegerType::i64, -7, 5, 2000, 0);
  expect_the_cpus(IntegerType::i64, std::numeric_limits<int64_t>::max() - 31, 5, 2000, 0);
  expect_the_cpus(IntegerType::i32, -1000, 17, 2000, 0);
  expect_the_cpus(IntegerType::u8, 200, 5, 2000, 0);
  expect_the_cpus(IntegerType::boolean, 1, 0, 2000, 0);
}

TEST(CudaIntegers, ThatDoNotFitLeaveTheirNeighboursCodes) {
  const int64_t x[] = {5, 6, 1000, 7, -1, 8};
  uint8_t codes[16];
  uint8_t expected[16];
  EXPECT_FALSE(kernels::integer_encode(IntegerType::i64, x, 5, 2, expected, {0, 6, 6}));
  EXPECT_EQ(integer_encode(IntegerType::i64, x, 5, 2, codes, 6, nullptr), cudaSuccess);
  EXPECT_EQ(Bytes(codes, codes + 16), Bytes(expected, expected + 16));
}

void expect_the_cpus_mask(ElementType type, const Bytes& x, size_t offset) {
  const int64_t count = static_cast<int64_t>(x.size()) / element_bytes(type);
  const auto bytes = static_cast<size_t>(code_bytes(count, 1));
  Bytes expected(bytes, 0xFF);
  Bytes back(x.size());
  kernels::sign_encode(type, x.data(), expected.data(), {0, count, count});
  kernels::sign_decode(type, expected.data(), back.data(), {0, count, count});
  Guarded in = guarded(x, offset * static_cast<size_t>(element_bytes(type)));
  Guarded codes(bytes, offset);
  Guarded out(x.size(), offset * static_cast<size_t>(element_bytes(type)));
  ASSERT_EQ(sign_encode(type, in.data(), codes.data(), count, nullptr), cudaSuccess);
  ASSERT_EQ(codes.content(), expected) << type_name(type) << ", " << count << ", offset " << offset;
  ASSERT_EQ(sign_decode(type, codes.data(), out.data(), count, nullptr), cudaSuccess);
  ASSERT_EQ(out.content(), back) << type_name(type) << ", " << count << ", offset " << offset;
  ASSERT_TRUE(in.is_intact() && codes.is_intact() && out.is_intact());
}

TEST(CudaMasks, AreTheCpusOfAllBitPatternsOf16Bits) {
  expect_the_cpus_mask(ElementType::bf16, every_half(), 0);
  expect_the_cpus_mask(ElementType::f16, every_half(), 0);
}

TEST(CudaMasks, AreTheCpusForEveryTypeCountAndAlignment) {
  const double ends[] = {0.0,     -0.0,   1.0,     -1.0,   INFINITY, -INFINITY,
                         NAN,     -NAN,   1e-45,   -1e-45, 5e-324,   -5e-324,
                         1.2e-38, 3.4e38, -3.4e38, 1e300,  -1e300,   2.0};
  for (const ElementType type : kTypes) {
    for (const int64_t count : kCounts) {
      std::vector<double> x = normal_inputs(count, 3);
      for (size_t i = 0; i < x.size(); i += 3) x[i] = ends[i / 3 % 18];
      for (const size_t offset : {0, 1}) expect_the_cpus_mask(type, bytes_of(x, type), offset);
    }
  }
}

TEST(CudaMasks, OfBooleansAreTheCpusForAnyBytes) {
  for (const int64_t count : kCounts) {
    Bytes x = random_bytes(count, 5);
    for (size_t i = 0; i < x.size(); i += 2) x[i] = x[i] < 128 ? 0 : 1;
    const auto bytes = static_cast<size_t>(code_bytes(count, 1));
    Bytes expected(bytes, 0xFF);
    Bytes back(x.size());
    kernels::mask_encode(reinterpret_cast<const bool*>(x.data()), expected.data(),
                         {0, count, count});
    kernels::mask_decode(expected.data(), reinterpret_cast<bool*>(back.data()), {0, count, count});
    for (const size_t offset : {0, 1}) {
      Guarded in = guarded(x, offset);
      Guarded codes(bytes, offset);
      Guarded out(x.size(), offset);
      ASSERT_EQ(mask_encode(reinterpret_cast<const bool*>(in.data()), codes.data(), count, nullptr),
                cudaSuccess);
      ASSERT_EQ(codes.content(), expected) << count << ", offset " << offset;
      ASSERT_EQ(mask_decode(codes.data(), reinterpret_cast<bool*>(out.data()), count, nullptr),
                cudaSuccess);
      ASSERT_EQ(out.content(), back) << count << ", offset " << offset;
      ASSERT_TRUE(in.is_intact() && codes.is_intact() && out.is_intact());
    }
  }
}

TEST(CudaIntegers, DoNotDependOnTheOrderOfThreads) {
  emulator::order = emulator::Order::descending;
  for (const int bits : {1, 5, 8, 17, 32}) {
    expect_the_cpus(IntegerType::i64, -3, bits, 2100, 0);
    expect_the_cpus(IntegerType::i32, lowest_of(IntegerType::i32), bits, 2100, 1);
  }
  for (const ElementType type : kTypes) {
    expect_the_cpus_mask(type, bytes_of(normal_inputs(2100, 3), type), 0);
  }
  emulator::order = emulator::Order::ascending;
}

TEST(CudaIntegers, HaveNothingToDoWithoutElements) {
  EXPECT_EQ(integer_encode(IntegerType::i64, nullptr, 0, 3, nullptr, 0, nullptr), cudaSuccess);
  EXPECT_EQ(integer_decode(IntegerType::i64, nullptr, 0, 3, nullptr, 0, nullptr), cudaSuccess);
  EXPECT_EQ(sign_encode(ElementType::f32, nullptr, nullptr, 0, nullptr), cudaSuccess);
  EXPECT_EQ(mask_decode(nullptr, nullptr, 0, nullptr), cudaSuccess);
}

}  // namespace fewbit::kernels::cuda::integers_test
