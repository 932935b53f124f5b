// Rotated quantisation on the device: the CPU kernels' codes, constants and decoded values, bit for
// bit.
#include "kernels/quantizer/cuda/rotated.hpp"

#include <memory>

#include <gtest/gtest.h>

#include "tests/cuda/quantizer.hpp"

namespace fewbit::kernels::cuda::rotated_test {

using Bytes = std::vector<uint8_t>;

constexpr int kStates[] = {4, 8};

size_t stream_bytes(const RotatedFormat& format) {
  return static_cast<size_t>(code_bytes(format.coded_elements(), format.bits));
}

size_t constant_bytes(const RotatedFormat& format) {
  return static_cast<size_t>(format.groups() * format.constant_bytes_of_group());
}

Coded cpu_encode(const RotatedFormat& format, const Bytes& x) {
  Coded coded{Bytes(stream_bytes(format), 0xFF), Bytes(constant_bytes(format))};
  if (format.count == 0) return coded;
  kernels::rotated_encode(format, x.data(), coded.codes.data(), coded.constants.data(),
                          {0, format.groups()});
  return coded;
}

Bytes cpu_decode(const RotatedFormat& format, const Coded& coded) {
  Bytes x(static_cast<size_t>(format.count * element_bytes(format.type)));
  if (format.count == 0) return x;
  kernels::rotated_decode(format, coded.codes.data(), coded.constants.data(), x.data(),
                          {0, format.groups()});
  return x;
}

/// All memory `offset` elements off an alignment of 16, codes as many bytes.
Coded encode(const RotatedFormat& format, const Bytes& x, size_t offset) {
  Guarded in = guarded(x, offset * static_cast<size_t>(element_bytes(format.type)));
  Guarded codes(stream_bytes(format), offset);
  Guarded constants(constant_bytes(format), 8 * offset);
  EXPECT_EQ(rotated_encode(format, {&format.signs.seed, format.signs.offset}, in.data(),
                           codes.data(), constants.data(), nullptr),
            cudaSuccess);
  EXPECT_TRUE(in.is_intact() && codes.is_intact() && constants.is_intact());
  return {codes.content(), constants.content()};
}

Bytes decode(const RotatedFormat& format, const Coded& coded, size_t offset) {
  const auto size = static_cast<size_t>(element_bytes(format.type));
  Guarded codes = guarded(coded.codes, offset);
  Guarded constants = guarded(coded.constants, 8 * offset);
  Guarded out(static_cast<size_t>(format.count) * size, offset * size);
  EXPECT_EQ(rotated_decode(format, {&format.signs.seed, format.signs.offset}, codes.data(),
                           constants.data(), out.data(), nullptr),
            cudaSuccess);
  EXPECT_TRUE(codes.is_intact() && constants.is_intact() && out.is_intact());
  return out.content();
}

RotatedFormat format_of(ElementType type, int bits, int64_t group, int64_t count, int states = 0) {
  return {type, bits, group, count, {0x123456789ABCDEFull, 0xFEDCBA987654321ull}, states};
}

void expect_the_cpus(const RotatedFormat& format, const std::vector<double>& x, size_t offset = 0) {
  const Bytes bytes = bytes_of(x, format.type);
  const Coded expected = cpu_encode(format, bytes);
  const auto what = [&] {
    return ::testing::Message() << type_name(format.type) << ", " << format.bits << " bits, "
                                << format.states << " states, groups of " << format.group << ", "
                                << format.count << " elements, offset " << offset;
  };
  const Coded coded = encode(format, bytes, offset);
  ASSERT_EQ(coded.constants, expected.constants) << what();
  ASSERT_EQ(coded.codes, expected.codes) << what();
  ASSERT_EQ(decode(format, expected, offset), cpu_decode(format, expected)) << what();
}

TEST(CudaRotated, IsTheCpusForEveryTypeWidthAndGroup) {
  const std::vector<double> x = normal_inputs(2048, 3);
  for (const ElementType type : kTypes) {
    for (int bits = 1; bits <= 8; ++bits) {
      for (const int64_t group : kGroups) expect_the_cpus(format_of(type, bits, group, 2048), x);
    }
  }
}

TEST(CudaRotated, IsTheCpusForTailsAndEveryAlignment) {
  for (const ElementType type : kTypes) {
    for (const int64_t group : kGroups) {
      for (const int64_t count : {1, 63, 64, 65, 200, 1023, 1025, 1500}) {
        const int bits = static_cast<int>(1 + (count + group / 64) % 8);
        const std::vector<double> x = normal_inputs(count, 5);
        for (const size_t offset : {0, 1}) {
          expect_the_cpus(format_of(type, bits, group, count), x, offset);
        }
      }
    }
  }
}

TEST(CudaRotated, IsTheCpusBeyondABlock) {
  expect_the_cpus(format_of(ElementType::bf16, 3, 256, 8192 + 300), normal_inputs(8192 + 300, 7));
  expect_the_cpus(format_of(ElementType::f32, 2, 64, 3 * 8192), normal_inputs(3 * 8192, 7));
}

TEST(CudaRotated, IsTheCpusForGroupsOfEveryKind) {
  for (const ElementType type : kTypes) {
    for (const int64_t group : kGroups) {
      const int64_t count = 12 * group - 5;
      expect_the_cpus(format_of(type, group == 256 ? 1 : 4, group, count),
                      odd_groups(group, count));
    }
  }
}

TEST(CudaRotated, IsTheCpusForEveryScaleOfTheType) {
  for (const ElementType type : kTypes) {
    for (const double scale : scales_of(type)) {
      const std::vector<double> x = scaled_inputs(1100, scale);
      for (const int64_t group : kGroups) expect_the_cpus(format_of(type, 3, group, 1100), x);
    }
  }
}

TEST(CudaRotated, DoesNotDependOnTheOrderOfThreads) {
  emulator::order = emulator::Order::descending;
  for (const int64_t group : kGroups) {
    expect_the_cpus(format_of(ElementType::f32, 5, group, 2100), odd_groups(group, 2100));
    expect_the_cpus(format_of(ElementType::bf16, 3, group, 2048), normal_inputs(2048, 3));
  }
  emulator::order = emulator::Order::ascending;
}

/// A tensor of several that are coded by one launch: what the CPU makes of it, and its memory.
class OneOfSeveral {
 public:
  OneOfSeveral(const RotatedFormat& format, const Bytes& x, size_t offset)
      : format_(format),
        expected_(cpu_encode(format, x)),
        x_(guarded(x, offset * static_cast<size_t>(element_bytes(format.type)))),
        codes_(stream_bytes(format), offset),
        constants_(constant_bytes(format), 8 * offset),
        back_(x.size(), offset * static_cast<size_t>(element_bytes(format.type))) {}

  RotatedEncodeTensor to_encode() {
    return {format_.count, signs(), x_.data(), codes_.data(), constants_.data()};
  }
  RotatedDecodeTensor to_decode() {
    return {format_.count, signs(), back_.data(), codes_.data(), constants_.data()};
  }
  void expect_the_cpus() {
    EXPECT_EQ((Coded{codes_.content(), constants_.content()}), expected_);
    EXPECT_EQ(back_.content(), cpu_decode(format_, expected_));
    EXPECT_TRUE(x_.is_intact() && codes_.is_intact() && constants_.is_intact());
    EXPECT_TRUE(back_.is_intact());
  }

 private:
  DevicePhilox signs() const { return {&format_.signs.seed, format_.signs.offset}; }

  RotatedFormat format_;
  Coded expected_;
  Guarded x_, codes_, constants_, back_;
};

TEST(CudaRotated, SeveralTogetherAreEachByItself) {
  const std::vector<int64_t> counts = {700, 0, 1, 8192 + 300, 64, 200};
  for (const ElementType type : kTypes) {
    for (const int64_t group : kGroups) {
      for (const size_t tensors : {2, 6, 45}) {
        // By more than one launch, which makes no difference to kernels.
        if (tensors > 6 && (group != 256 || type != ElementType::bf16)) continue;
        const RotatedFormat format =
            format_of(type, static_cast<int>(1 + (tensors + group / 64) % 8), group, 0);
        std::vector<std::unique_ptr<OneOfSeveral>> all;
        std::vector<RotatedEncodeTensor> to_encode;
        std::vector<RotatedDecodeTensor> to_decode;
        for (size_t i = 0; i < tensors; ++i) {
          RotatedFormat own = format;
          own.count = counts[i % counts.size()];
          own.signs.offset += i;
          const Bytes x = bytes_of(odd_groups(group, own.count), type);
          all.push_back(std::make_unique<OneOfSeveral>(own, x, i % 2));
          to_encode.push_back(all.back()->to_encode());
          to_decode.push_back(all.back()->to_decode());
        }
        EXPECT_EQ(rotated_encode(format, to_encode, nullptr), cudaSuccess);
        EXPECT_EQ(rotated_decode(format, to_decode, nullptr), cudaSuccess);
        SCOPED_TRACE(::testing::Message() << type_name(type) << ", groups of " << group << ", "
                                          << tensors << " tensors");
        for (const auto& one : all) one->expect_the_cpus();
      }
    }
  }
}

TEST(CudaTrellis, IsTheCpusForEveryTypeWidthAndGroup) {
  const std::vector<double> x = normal_inputs(2048, 3);
  for (const ElementType type : kTypes) {
    for (int bits = 1; bits <= kMostTrellisBits; ++bits) {
      for (const int64_t group : kGroups) {
        for (const int states : kStates) {
          expect_the_cpus(format_of(type, bits, group, 2048, states), x);
        }
      }
    }
  }
}

TEST(CudaTrellis, IsTheCpusForTailsAndEveryAlignment) {
  for (const ElementType type : kTypes) {
    for (const int64_t group : kGroups) {
      for (const int64_t count : {1, 63, 64, 65, 200, 1023, 1025, 1500}) {
        const int bits = static_cast<int>(1 + (count + group / 64) % kMostTrellisBits);
        const int states = count % 5 < 2 ? 4 : 8;
        const std::vector<double> x = normal_inputs(count, 5);
        for (const size_t offset : {0, 1}) {
          expect_the_cpus(format_of(type, bits, group, count, states), x, offset);
        }
      }
    }
  }
}

TEST(CudaTrellis, IsTheCpusBeyondABlock) {
  const std::vector<double> x = normal_inputs(2 * 8192 + 2100, 7);
  for (const int64_t group : kGroups) {
    for (const int states : kStates) {
      const auto count = static_cast<int64_t>(x.size());
      expect_the_cpus(format_of(ElementType::bf16, states / 2 - 1, group, count, states), x);
    }
  }
}

TEST(CudaTrellis, IsTheCpusForGroupsOfEveryKind) {
  for (const ElementType type : kTypes) {
    for (const int64_t group : kGroups) {
      const int64_t count = 12 * group - 5;
      for (int bits = 1; bits <= kMostTrellisBits; ++bits) {
        expect_the_cpus(format_of(type, bits, group, count, bits % 2 == 0 ? 4 : 8),
                        odd_groups(group, count));
      }
    }
  }
}

TEST(CudaTrellis, IsTheCpusForEveryScaleOfTheType) {
  for (const ElementType type : kTypes) {
    for (const double scale : scales_of(type)) {
      const std::vector<double> x = scaled_inputs(1100, scale);
      for (const int64_t group : kGroups) {
        expect_the_cpus(format_of(type, 2, group, 1100, group % 512 == 0 ? 4 : 8), x);
      }
    }
  }
}

TEST(CudaTrellis, DoesNotDependOnTheOrderOfThreads) {
  emulator::order = emulator::Order::descending;
  for (const int64_t group : kGroups) {
    for (const int states : kStates) {
      expect_the_cpus(format_of(ElementType::f32, 3, group, 2100, states), odd_groups(group, 2100));
      expect_the_cpus(format_of(ElementType::bf16, 2, group, 9000, states), normal_inputs(9000, 3));
    }
  }
  emulator::order = emulator::Order::ascending;
}

// Its signs go on where the part begins.
TEST(CudaRotated, APartComesBackByItself) {
  constexpr int64_t kBegin = 2048, kEnd = 5120;
  for (const int states : {0, 4}) {
    const RotatedFormat format = format_of(ElementType::f32, 3, 256, 10'000, states);
    const Bytes x = bytes_of(normal_inputs(10'000, 4), ElementType::f32);
    const Coded coded = cpu_encode(format, x);
    const Bytes whole = cpu_decode(format, coded);
    RotatedFormat part = format;
    part.count = kEnd - kBegin;
    Bytes back(4 * (kEnd - kBegin));
    const DevicePhilox signs{&format.signs.seed, format.signs.offset, kBegin / kSignsOfDraw};
    EXPECT_EQ(rotated_decode(part, signs, coded.codes.data() + kBegin / 8 * 3,
                             coded.constants.data() + kBegin / 256 * 4, back.data(), nullptr),
              cudaSuccess);
    EXPECT_EQ(back, Bytes(whole.begin() + 4 * kBegin, whole.begin() + 4 * kEnd)) << states;
  }
}

TEST(CudaRotated, HasNothingToDoWithoutElements) {
  const RotatedFormat format = format_of(ElementType::f32, 3, 256, 0);
  EXPECT_EQ(rotated_encode(format, {}, nullptr, nullptr, nullptr, nullptr), cudaSuccess);
  EXPECT_EQ(rotated_decode(format, {}, nullptr, nullptr, nullptr, nullptr), cudaSuccess);
}

}  // namespace fewbit::kernels::cuda::rotated_test
