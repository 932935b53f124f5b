// Codes, constants and values of group quantisation, bit for bit by their definition.
#include <gtest/gtest.h>

#include "tests/kernels/group_reference.hpp"
#include "tests/support/floating_point_mode.hpp"

namespace fewbit::kernels::group_test {

constexpr ElementType kTypes[] = {ElementType::f32, ElementType::bf16, ElementType::f16,
                                  ElementType::f64};
constexpr Rounding kRoundings[] = {Rounding::nearest, Rounding::stochastic, Rounding::dithered,
                                   Rounding::squares};
constexpr PhiloxState kRandom{0x123456789ABCDEFu, 0xFEDCBA987u};

std::string name_of(const GroupFormat& format, int64_t count) {
  return type_name(format.type) + ", " + std::to_string(format.bits) + " bits, groups of " +
         std::to_string(format.group) + ", rounding " +
         std::to_string(static_cast<int>(format.rounding)) + ", " + std::to_string(count);
}

/// Every instruction set gives what the definition gives.
void expect_definition(const GroupFormat& format, const std::vector<double>& values) {
  const std::vector<uint8_t> x = bytes_of(values, format.type);
  const auto count = static_cast<int64_t>(values.size());
  const ReferenceGroups wanted = reference_groups(format, elements(x, format.type));
  const std::vector<uint8_t> back = bytes_of(wanted.values, format.type);
  for_each_target([&](int64_t target) {
    const Encoded encoded = run_group_encode(format, x);
    ASSERT_EQ(encoded.constants, wanted.encoded.constants)
        << name_of(format, count) << ' ' << hwy::TargetName(target);
    ASSERT_EQ(encoded.codes, wanted.encoded.codes)
        << name_of(format, count) << ' ' << hwy::TargetName(target);
    ASSERT_EQ(run_group_decode(format, encoded, count), back)
        << name_of(format, count) << ' ' << hwy::TargetName(target);
  });
}

std::vector<double> scaled(int64_t count, double scale, double offset) {
  std::vector<double> x = normal_inputs(count, static_cast<uint32_t>(count) + 5);
  for (double& value : x) value = offset + scale * value;
  return x;
}

TEST(Group, IsItsDefinitionForEveryTypeWidthGroupAndSize) {
  for (const ElementType type : kTypes) {
    for (int bits = 1; bits <= 8; ++bits) {
      for (const int64_t group : {64, 128, 256, 512, 1024}) {
        const Rounding rounding = kRoundings[(bits + group / 64) % 3];
        for (const int64_t count : {1, 63, 64, 65, 511, 512, 513, 1025, 3000}) {
          expect_definition({type, bits, group, rounding, kRandom}, scaled(count, 1.0, 0.3));
        }
      }
    }
  }
}

TEST(Group, IsItsDefinitionForEveryRoundingOfManyElements) {
  for (const ElementType type : kTypes) {
    for (const int bits : {1, 2, 3, 4, 8}) {
      for (const Rounding rounding : kRoundings) {
        expect_definition({type, bits, 256, rounding, kRandom}, scaled(10000, 3.0, -1.0));
        expect_definition({type, bits, 1024, rounding, kRandom}, scaled(10000, 3.0, -1.0));
      }
    }
  }
}

TEST(Group, IsItsDefinitionAtEveryMagnitude) {
  for (const Rounding rounding : kRoundings) {
    for (const double scale : {1e-45, 1e-41, 1e-39, 1e-30, 1e-19, 1e-6, 1e5, 1e30, 1e38}) {
      for (const double offset : {0.0, 1.0, -100.0, 3e38}) {
        std::vector<double> x = scaled(700, scale, offset);
        for (double& value : x) value = std::clamp(value, -0x1.FFFFFEp127, 0x1.FFFFFEp127);
        expect_definition({ElementType::f32, 4, 64, rounding, kRandom}, x);
        expect_definition({ElementType::bf16, 2, 128, rounding, kRandom}, x);
        for (double& value : x) value = std::clamp(value, -65504.0, 65504.0);
        expect_definition({ElementType::f16, 8, 64, rounding, kRandom}, x);
      }
    }
    for (const double scale : {5e-324, 1e-310, 1e-200, 1e-150, 1e150, 1e300, 4e307}) {
      expect_definition({ElementType::f64, 4, 64, rounding, kRandom}, scaled(700, scale, 0.0));
    }
  }
}

TEST(Group, OfTheLargestNumbersOfBothSignsIsWithinAStep) {
  for (const Rounding rounding : kRoundings) {
    for (const ElementType type : kTypes) {
      const double largest = type == ElementType::f64    ? std::numeric_limits<double>::max()
                             : type == ElementType::f16  ? 65504.0
                             : type == ElementType::bf16 ? 0x1.FEp127
                                                         : 0x1.FFFFFEp127;
      std::vector<double> x(100, -largest);
      for (size_t i = 0; i < 50; ++i) x[i] = largest;
      for (const int bits : {1, 2, 8}) {
        const GroupFormat format{type, bits, 64, rounding, kRandom};
        const std::vector<double> back = coded(format, x);
        // The last group is of one value.
        for (size_t i = 0; i < x.size(); ++i) {
          const double step = i < 64 ? 2.0 / ((1 << bits) - 1) : 0.01;
          ASSERT_LE(std::fabs(back[i] / largest - x[i] / largest), step + 0.01) << i;
        }
        if (type != ElementType::f64) expect_definition(format, x);
      }
    }
  }
}

TEST(Group, OfOneValueThatBf16HasComesBackAsItIs) {
  for (const ElementType type : kTypes) {
    for (const Rounding rounding : kRoundings) {
      for (const double value : {0.0, -0.0, 1.0, -3.25, 0x1p-14, 0x1p-24, 65024.0, -65024.0}) {
        const GroupFormat format{type, 2, 64, rounding, kRandom};
        for (const double back : coded(format, std::vector<double>(130, value))) {
          ASSERT_EQ(back, value);
        }
      }
    }
  }
  const GroupFormat format{ElementType::f32, 2, 64, Rounding::nearest};
  for (const double value : {0x1p-133, -0x1p-133, 0x1.FEp127, -0x1.FEp127}) {
    EXPECT_EQ(coded(format, std::vector<double>(64, value))[63], value);
  }
}

TEST(Group, OfOneValueIsWithinBf16sRoundingOfIt) {
  for (const Rounding rounding : kRoundings) {
    for (const float value : {0.1f, -0.1f, 1234.567f, 3.39e38f, 1e-40f}) {
      const auto wanted = static_cast<double>(value);
      for (const int bits : {1, 4}) {
        const GroupFormat format{ElementType::f32, bits, 64, rounding, kRandom};
        for (const double back : coded(format, std::vector<double>(64, wanted))) {
          // Of dither half as much beyond. The least half range is bf16's least number.
          ASSERT_LE(std::fabs(back - wanted), 1.5 * std::max(std::fabs(wanted) / 128, 0x1p-132));
        }
      }
    }
  }
}

TEST(Group, WithNanOrInfinityIsAllNanAndNoOtherIs) {
  for (const ElementType type : kTypes) {
    for (const double bad : {static_cast<double>(NAN), HUGE_VAL, -HUGE_VAL}) {
      for (const int64_t group : {64, 1024}) {
        const GroupFormat format{type, 3, group, Rounding::stochastic, kRandom};
        const std::vector<double> clean = scaled(2100, 1.0, 0.0);
        const std::vector<double> wanted = coded(format, clean);
        for (const size_t place : {size_t{0}, size_t{1023}, size_t{1055}, size_t{2099}}) {
          std::vector<double> x = clean;
          x[place] = bad;
          expect_definition(format, x);
          const std::vector<double> back = coded(format, x);
          for (size_t i = 0; i < x.size(); ++i) {
            const auto length = static_cast<size_t>(group);
            ASSERT_EQ(std::isnan(back[i]), i / length == place / length) << i;
            ASSERT_TRUE(std::isnan(back[i]) || back[i] == wanted[i]) << i;
          }
        }
      }
    }
  }
}

TEST(Group, MaximumNeverWrapsToTheMinimum) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  for (const ElementType type : kTypes) {
    for (const int bits : {1, 2, 8}) {
      for (const Rounding rounding : kRoundings) {
        for (int draw = 0; draw < 60; ++draw) {
          const double high = std::exp(3 * normal(random));
          std::vector<double> x(64, high);
          x[static_cast<size_t>(draw)] = -0.3 * high;
          x = elements(bytes_of(x, type), type);
          const GroupFormat format{type, bits, 64, rounding, {random(), 0}};
          const std::vector<double> back = coded(format, x);
          const double widest = rounding == Rounding::squares ? 2.0 : 1.0;
          const double step = widest * 1.32 * high / ((1 << bits) - 1);
          const double last_digit = element_bytes(type) == 2 ? high / 128 : 0.0;
          for (size_t i = 0; i < 64; ++i) ASSERT_LE(std::fabs(back[i] - x[i]), step + last_digit);
        }
      }
    }
  }
}

/// x at any multiple of its type's size, codes at any byte, constants at theirs, guards around.
TEST(Group, NeedsNoAlignmentAndWritesNothingBesideItsOwn) {
  constexpr int64_t kCount = 1500;
  for (const ElementType type : kTypes) {
    const GroupFormat format{type, 3, 128, Rounding::dithered, kRandom};
    const std::vector<uint8_t> x = bytes_of(scaled(kCount, 1.0, 0.0), type);
    const Encoded wanted = run_group_encode(format, x);
    const std::vector<uint8_t> back = run_group_decode(format, wanted, kCount);
    const auto size = static_cast<size_t>(element_bytes(type));
    const auto guarded = [](const std::vector<uint8_t>& bytes, size_t shift) {
      std::vector<uint8_t> all(bytes.size() + 128, 0xAB);
      std::copy(bytes.begin(), bytes.end(), all.begin() + static_cast<std::ptrdiff_t>(shift));
      return all;
    };
    for (size_t shift = size; shift < 64; shift += 3 * size) {
      for_each_target([&](int64_t target) {
        const std::vector<uint8_t> from = guarded(x, shift);
        std::vector<uint8_t> codes(wanted.codes.size() + 128, 0xAB);
        std::vector<uint8_t> constants(wanted.constants.size() + 128, 0xAB);
        std::vector<uint8_t> to(x.size() + 128, 0xAB);
        group_encode(format, from.data() + shift, codes.data() + shift - 1,
                     constants.data() + shift, {0, kCount, kCount});
        ASSERT_EQ(codes, guarded(wanted.codes, shift - 1)) << hwy::TargetName(target);
        ASSERT_EQ(constants, guarded(wanted.constants, shift)) << hwy::TargetName(target);
        group_decode(format, codes.data() + shift - 1, constants.data() + shift, to.data() + shift,
                     {0, kCount, kCount});
        ASSERT_EQ(to, guarded(back, shift)) << hwy::TargetName(target);
      });
    }
  }
}

TEST(Group, DoesNotDependOnTheSplitIntoRangesNorOnTheirOrder) {
  constexpr int64_t kCount = 10 * 1024 + 577;
  for (const ElementType type : kTypes) {
    for (const int64_t group : {64, 512, 1024}) {
      const GroupFormat format{type, 3, group, Rounding::dithered, kRandom};
      const std::vector<uint8_t> x = bytes_of(scaled(kCount, 1.0, 0.0), type);
      const Encoded whole = run_group_encode(format, x);
      Encoded split = empty_encoding(format, kCount);
      std::vector<uint8_t> back(x.size());
      const int64_t unit = encode_unit(group);
      const int64_t borders[] = {0, unit, 2 * unit, 7 * unit, 10 * unit, kCount};
      for (const int part : {3, 0, 4, 2, 1}) {
        group_encode(format, x.data(), split.codes.data(), split.constants.data(),
                     {borders[part], borders[part + 1], kCount});
      }
      EXPECT_EQ(split, whole);
      const int64_t blocks[] = {0, kBlock, 3 * kBlock, 7 * kBlock, 20 * kBlock, kCount};
      for (const int part : {3, 0, 4, 2, 1}) {
        group_decode(format, whole.codes.data(), whole.constants.data(), back.data(),
                     {blocks[part], blocks[part + 1], kCount});
      }
      EXPECT_EQ(back, run_group_decode(format, whole, kCount));
    }
  }
}

TEST(Group, IsTheSameInEveryFloatingPointMode) {
  for (const ElementType type : kTypes) {
    for (const double scale : {1.0, 1e-39}) {
      const GroupFormat format{type, 4, 64, Rounding::dithered, kRandom};
      const std::vector<uint8_t> x = bytes_of(scaled(2000, scale, 0.0), type);
      const Encoded wanted = run_group_encode(format, x);
      const std::vector<uint8_t> back = run_group_decode(format, wanted, 2000);
      test::for_each_mode([&](const test::FloatingPointMode& mode) {
        const test::InMode guard(mode);
        EXPECT_EQ(run_group_encode(format, x), wanted) << mode.name;
        EXPECT_EQ(run_group_decode(format, wanted, 2000), back) << mode.name;
      });
    }
  }
}

}  // namespace fewbit::kernels::group_test
