// Quantisation in groups on the device: the CPU kernels' codes, constants and decoded values, bit
// for bit.
#include "kernels/quantizer/cuda/group.hpp"

#include <gtest/gtest.h>

#include "tests/cuda/quantizer.hpp"

namespace fewbit::kernels::cuda::group_test {

using Bytes = std::vector<uint8_t>;

constexpr Rounding kRoundings[] = {Rounding::nearest, Rounding::stochastic, Rounding::dithered,
                                   Rounding::squares};

size_t constants_bytes(const GroupFormat& format, int64_t count) {
  return static_cast<size_t>(group_count(count, format.group) * constant_bytes(format.type));
}

Coded cpu_encode(const GroupFormat& format, const Bytes& x, int64_t count) {
  Coded coded{Bytes(static_cast<size_t>(code_bytes(count, format.bits)), 0xFF),
              Bytes(constants_bytes(format, count))};
  kernels::group_encode(format, x.data(), coded.codes.data(), coded.constants.data(),
                        {0, count, count});
  return coded;
}

Bytes cpu_decode(const GroupFormat& format, const Coded& coded, int64_t count) {
  Bytes x(static_cast<size_t>(count * element_bytes(format.type)));
  kernels::group_decode(format, coded.codes.data(), coded.constants.data(), x.data(),
                        {0, count, count});
  return x;
}

/// All memory `offset` elements off an alignment of 16, codes as many bytes.
Coded encode(const GroupFormat& format, const Bytes& x, int64_t count, size_t offset) {
  Guarded in = guarded(x, offset * static_cast<size_t>(element_bytes(format.type)));
  Guarded codes(static_cast<size_t>(code_bytes(count, format.bits)), offset);
  Guarded constants(constants_bytes(format, count), 8 * offset);
  EXPECT_EQ(group_encode(format, {&format.random.seed, format.random.offset}, in.data(),
                         codes.data(), constants.data(), count, nullptr),
            cudaSuccess);
  EXPECT_TRUE(in.is_intact() && codes.is_intact() && constants.is_intact());
  return {codes.content(), constants.content()};
}

Bytes decode(const GroupFormat& format, const Coded& coded, int64_t count, size_t offset) {
  const auto size = static_cast<size_t>(element_bytes(format.type));
  Guarded codes = guarded(coded.codes, offset);
  Guarded constants = guarded(coded.constants, 8 * offset);
  Guarded out(static_cast<size_t>(count) * size, offset * size);
  EXPECT_EQ(group_decode(format, {&format.random.seed, format.random.offset}, codes.data(),
                         constants.data(), out.data(), count, nullptr),
            cudaSuccess);
  EXPECT_TRUE(codes.is_intact() && constants.is_intact() && out.is_intact());
  return out.content();
}

GroupFormat format_of(ElementType type, int bits, int64_t group, Rounding rounding) {
  return {type, bits, group, rounding, {0x123456789ABCDEFull, 0xFEDCBA987654321ull}};
}

void expect_the_cpus(const GroupFormat& format, const std::vector<double>& x, size_t offset = 0) {
  const auto count = static_cast<int64_t>(x.size());
  const Bytes bytes = bytes_of(x, format.type);
  const Coded expected = cpu_encode(format, bytes, count);
  const auto what = [&] {
    return ::testing::Message() << type_name(format.type) << ", " << format.bits
                                << " bits, groups of " << format.group << ", rounding "
                                << static_cast<int>(format.rounding) << ", " << count
                                << " elements, offset " << offset;
  };
  const Coded coded = encode(format, bytes, count, offset);
  ASSERT_EQ(coded.constants, expected.constants) << what();
  ASSERT_EQ(coded.codes, expected.codes) << what();
  ASSERT_EQ(decode(format, expected, count, offset), cpu_decode(format, expected, count)) << what();
}

TEST(CudaGroup, IsTheCpusForEveryTypeWidthGroupAndRounding) {
  const std::vector<double> x = normal_inputs(2048, 3);
  for (const ElementType type : kTypes) {
    for (int bits = 1; bits <= 8; ++bits) {
      for (const int64_t group : kGroups) {
        for (const Rounding rounding : kRoundings) {
          expect_the_cpus(format_of(type, bits, group, rounding), x);
        }
      }
    }
  }
}

TEST(CudaGroup, IsTheCpusForTailsAndEveryAlignment) {
  for (const ElementType type : kTypes) {
    for (const int64_t group : kGroups) {
      for (const int64_t count : {1, 31, 33, 63, 64, 65, 200, 1000, 1023, 1025, 1500}) {
        const int bits = static_cast<int>(1 + (count + group / 64) % 8);
        for (const size_t offset : {0, 1}) {
          for (const Rounding rounding : kRoundings) {
            expect_the_cpus(format_of(type, bits, group, rounding), normal_inputs(count, 5),
                            offset);
          }
        }
      }
    }
  }
}

TEST(CudaGroup, IsTheCpusBeyondABlock) {
  const std::vector<double> x = normal_inputs(2 * 8192 + 300, 7);
  for (const ElementType type : kTypes) {
    expect_the_cpus(format_of(type, 3, 256, Rounding::dithered), x);
  }
}

TEST(CudaGroup, IsTheCpusForGroupsOfEveryKind) {
  for (const ElementType type : kTypes) {
    for (const int64_t group : kGroups) {
      for (const Rounding rounding : kRoundings) {
        expect_the_cpus(format_of(type, group == 256 ? 1 : 4, group, rounding),
                        odd_groups(group, 12 * group - 5));
      }
    }
  }
}

TEST(CudaGroup, IsTheCpusForEveryScaleOfTheType) {
  for (const ElementType type : kTypes) {
    for (const double scale : scales_of(type)) {
      const std::vector<double> x = scaled_inputs(1100, scale);
      for (const Rounding rounding : kRoundings) {
        expect_the_cpus(format_of(type, 3, 64, rounding), x);
        expect_the_cpus(format_of(type, 8, 512, rounding), x);
      }
    }
  }
}

TEST(CudaGroup, DoesNotDependOnTheOrderOfThreads) {
  emulator::order = emulator::Order::descending;
  for (const ElementType type : kTypes) {
    for (const int64_t group : kGroups) {
      expect_the_cpus(format_of(type, 5, group, Rounding::stochastic), odd_groups(group, 2100));
      expect_the_cpus(format_of(type, 3, group, Rounding::dithered), normal_inputs(2048, 3));
    }
  }
  emulator::order = emulator::Order::ascending;
}

TEST(CudaGroup, HasNothingToDoWithoutElements) {
  const GroupFormat format = format_of(ElementType::f32, 3, 256, Rounding::nearest);
  EXPECT_EQ(group_encode(format, {}, nullptr, nullptr, nullptr, 0, nullptr), cudaSuccess);
  EXPECT_EQ(group_decode(format, {}, nullptr, nullptr, nullptr, 0, nullptr), cudaSuccess);
}

}  // namespace fewbit::kernels::cuda::group_test
