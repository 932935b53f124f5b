// Elements that are mapped by their classes on the device: the CPU kernels' maps, codes, constants
// and decoded values, bit for bit.
#include <random>

#include <gtest/gtest.h>

#include "kernels/quantizer/cuda/class_maps.hpp"
#include "tests/cuda/quantizer.hpp"

namespace fewbit::kernels::cuda::rotated_classes_test {

using Bytes = std::vector<uint8_t>;

constexpr ElementType kTypes[] = {ElementType::f32, ElementType::bf16, ElementType::f16};

/// A stream of classes, and what they are mapped by.
struct Classes {
  int bits;
  int count;
  Bytes stream;
  std::vector<float> there, back;

  Classes(int64_t elements, int class_bits, int classes)
      : bits(class_bits),
        count(classes),
        stream(static_cast<size_t>(code_bytes(elements, class_bits))),
        there(2 * static_cast<size_t>(classes)),
        back(there) {
    std::mt19937 engine(static_cast<uint32_t>(class_bits));
    for (int64_t i = 0; i < elements; ++i) {
      const auto c = engine() % static_cast<uint32_t>(classes);
      for (int bit = 0; bit < bits; ++bit) {
        const auto at = static_cast<size_t>(i * bits + bit);
        stream[at / 8] = static_cast<uint8_t>(stream[at / 8] | (c >> bit & 1u) << at % 8);
      }
    }
  }

  ElementClasses of_cpu(const std::vector<float>& map) const {
    ElementClasses classes{stream.data(), bits, {}};
    std::copy_n(map.begin(), count, classes.map.scale);
    std::copy_n(map.begin() + count, count, classes.map.shift);
    return classes;
  }
};

/// Fills the maps by the CPU, and expects the device's to be the same.
void expect_maps(ElementType type, const Bytes& x, int64_t count, Classes& classes, int zero) {
  const ClassMapsFormat format{type, count, classes.bits, classes.count, zero};
  kernels::class_maps(format, x.data(), classes.stream.data(), classes.there.data(),
                      classes.back.data());
  std::vector<float> there(classes.there.size()), back(there);
  ASSERT_EQ(class_maps(format, x.data(), classes.stream.data(), there.data(), back.data(), nullptr),
            cudaSuccess);
  const auto bits_of_all = [](const std::vector<float>& all) {
    std::vector<uint32_t> words;
    for (const float value : all) words.push_back(std::bit_cast<uint32_t>(value));
    return words;
  };
  EXPECT_EQ(bits_of_all(there), bits_of_all(classes.there));
  EXPECT_EQ(bits_of_all(back), bits_of_all(classes.back));
}

void expect_the_cpus(RotatedFormat format, const std::vector<double>& x, int class_bits, int count,
                     size_t offset = 0, int zero = -1) {
  SCOPED_TRACE(::testing::Message()
               << type_name(format.type) << ", " << format.bits << " bits, " << format.states
               << " states, groups of " << format.group << ", " << format.count << " elements, "
               << count << " classes of " << class_bits << " bits, offset " << offset);
  const Bytes bytes = bytes_of(x, format.type);
  Classes classes(format.count, class_bits, count);
  expect_maps(format.type, bytes, format.count, classes, zero);
  const auto coded = static_cast<size_t>(code_bytes(format.coded_elements(), format.bits));
  const auto constant = static_cast<size_t>(format.groups() * format.constant_bytes_of_group());
  Coded expected{Bytes(coded, 0xFF), Bytes(constant)};
  const ElementClasses there = classes.of_cpu(classes.there), back = classes.of_cpu(classes.back);
  format.classes = &there;
  kernels::rotated_encode(format, bytes.data(), expected.codes.data(), expected.constants.data(),
                          {0, format.groups()});
  Bytes decoded(bytes.size());
  format.classes = &back;
  kernels::rotated_decode(format, expected.codes.data(), expected.constants.data(), decoded.data(),
                          {0, format.groups()});
  const auto size = static_cast<size_t>(element_bytes(format.type));
  Guarded in = guarded(bytes, offset * size), stream = guarded(classes.stream, offset);
  Guarded codes(coded, offset), constants(constant, 8 * offset), out(bytes.size(), offset * size);
  const DevicePhilox signs{&format.signs.seed, format.signs.offset};
  ASSERT_EQ(
      rotated_class_encode(format, signs, {stream.data(), class_bits, classes.there.data(), count},
                           in.data(), codes.data(), constants.data(), nullptr),
      cudaSuccess);
  EXPECT_EQ(constants.content(), expected.constants);
  EXPECT_EQ(codes.content(), expected.codes);
  ASSERT_EQ(
      rotated_class_decode(format, signs, {stream.data(), class_bits, classes.back.data(), count},
                           codes.data(), constants.data(), out.data(), nullptr),
      cudaSuccess);
  EXPECT_EQ(out.content(), decoded);
  EXPECT_TRUE(in.is_intact() && stream.is_intact() && codes.is_intact() && out.is_intact());
}

RotatedFormat format_of(ElementType type, int bits, int64_t group, int64_t count, int states = 0) {
  return {type, bits, group, count, {0x123456789ABCDEFull, 0xFEDCBA987654321ull}, states};
}

TEST(CudaRotatedClasses, AreTheCpusForEveryTypeWidthAndGroup) {
  constexpr int64_t kCount = 1024 + 77;  // one block of threads, and a part of another
  const std::vector<double> x = normal_inputs(kCount, 3);
  for (const ElementType type : kTypes) {
    for (const int64_t group : kGroups) {
      expect_the_cpus(format_of(type, 3, group, kCount), x, 3, 8);
    }
    for (int class_bits = 1; class_bits <= 8; ++class_bits) {
      const int classes = std::min(1 << class_bits, kMostClasses);
      expect_the_cpus(format_of(type, class_bits, 256, kCount), x, class_bits, classes);
    }
  }
}

TEST(CudaRotatedClasses, AreTheCpusWhereATrellisPicksTheCodes) {
  for (const ElementType type : kTypes) {
    for (const int64_t group : kGroups) {
      for (int bits = 1; bits <= 4; ++bits) {
        const int states = bits % 2 == 1 ? 4 : 8;
        const int64_t count = 2048 + 77 * bits;
        expect_the_cpus(format_of(type, bits, group, count, states), normal_inputs(count, 4), bits,
                        std::min(1 << bits, kMostClasses), bits % 2 == 1 ? 0 : 4, bits - 2);
      }
    }
    expect_the_cpus(format_of(type, 2, 128, 128 * 25, 4), odd_groups(128, 128 * 25), 3, 8);
  }
}

TEST(CudaRotatedClasses, AreTheCpusForAnyCountAndAlignment) {
  for (const int64_t count : {1, 63, 255, 1023, 1024, 1025, 4096, 4097, 8191, 20000}) {
    const std::vector<double> x = normal_inputs(count, 5);
    for (const size_t offset : {size_t{0}, size_t{1}, size_t{4}}) {
      expect_the_cpus(format_of(ElementType::f32, 2, 256, count), x, 3, 7, offset, 2);
      expect_the_cpus(format_of(ElementType::bf16, 1, 64, count), x, 1, 2, offset, 0);
    }
  }
}

TEST(CudaRotatedClasses, AreTheCpusForOddGroupsAndEveryMagnitude) {
  for (const ElementType type : kTypes) {
    expect_the_cpus(format_of(type, 4, 128, 128 * 25), odd_groups(128, 128 * 25), 3, 8);
    for (const double scale : scales_of(type)) {
      expect_the_cpus(format_of(type, 3, 256, 256 * 9 + 3), scaled_inputs(256 * 9 + 3, scale), 2,
                      4);
    }
  }
}

TEST(CudaRotatedClasses, AreTheCpusWhereAllIsOneNumberOrNone) {
  for (const double value : {0.0, 3.5, double{NAN}, double{INFINITY}}) {
    const std::vector<double> x(5000, value);
    expect_the_cpus(format_of(ElementType::f32, 2, 256, 5000), x, 2, 3);
  }
}

}  // namespace fewbit::kernels::cuda::rotated_classes_test
