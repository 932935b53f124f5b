// The rotated quantizer against the same written out plainly, and what it promises: no bias, the
// error of the best table for N(0, 1), exact bytes, every group for itself.
#include "kernels/quantizer/rotated.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "generated/normal_quantizer.hpp"
#include "kernels/half.hpp"
#include "kernels/stream/code_stream.hpp"
#include "tests/kernels/support.hpp"

namespace fewbit::kernels::rotated_test {
namespace {

using Floats = std::vector<float>;

struct Kept {
  std::vector<uint8_t> codes;
  std::vector<uint8_t> constants;
  bool operator==(const Kept&) const = default;
};

std::vector<uint8_t> bytes_of(ElementType type, const std::vector<double>& x) {
  std::vector<uint8_t> bytes(x.size() * static_cast<size_t>(element_bytes(type)));
  for (size_t i = 0; i < x.size(); ++i) {
    const auto narrow = static_cast<float>(x[i]);
    if (type == ElementType::f64) {
      std::memcpy(&bytes[8 * i], &x[i], 8);
    } else if (type == ElementType::f32) {
      std::memcpy(&bytes[4 * i], &narrow, 4);
    } else {
      const uint16_t half = half_from_float(type, narrow);
      std::memcpy(&bytes[2 * i], &half, 2);
    }
  }
  return bytes;
}

std::vector<double> values_of(ElementType type, const std::vector<uint8_t>& bytes) {
  std::vector<double> x(bytes.size() / static_cast<size_t>(element_bytes(type)));
  for (size_t i = 0; i < x.size(); ++i) {
    if (type == ElementType::f64) {
      std::memcpy(&x[i], &bytes[8 * i], 8);
    } else if (type == ElementType::f32) {
      float value = 0.0f;
      std::memcpy(&value, &bytes[4 * i], 4);
      x[i] = value;
    } else {
      uint16_t half = 0;
      std::memcpy(&half, &bytes[2 * i], 2);
      x[i] = float_from_half(type, half);
    }
  }
  return x;
}

Kept encode(const RotatedFormat& format, const std::vector<uint8_t>& x) {
  const auto groups = static_cast<size_t>(format.groups());
  Kept kept{std::vector<uint8_t>(
                static_cast<size_t>(code_bytes(format.coded_elements(), format.bits)), 0xFF),
            std::vector<uint8_t>(groups * static_cast<size_t>(format.constant_bytes_of_group()))};
  rotated_encode(format, x.data(), kept.codes.data(), kept.constants.data(), {0, format.groups()});
  return kept;
}

std::vector<uint8_t> decode(const RotatedFormat& format, const Kept& kept) {
  std::vector<uint8_t> x(static_cast<size_t>(format.count * element_bytes(format.type)));
  rotated_decode(format, kept.codes.data(), kept.constants.data(), x.data(), {0, format.groups()});
  return x;
}

std::vector<double> there_and_back(const RotatedFormat& format, const std::vector<double>& x) {
  return values_of(format.type, decode(format, encode(format, bytes_of(format.type, x))));
}

std::vector<double> normal(int64_t count, uint32_t seed, double sigma = 1.0, double mean = 0.0) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> draw(mean, sigma);
  std::vector<double> x(static_cast<size_t>(count));
  for (double& value : x) value = draw(engine);
  return x;
}

double energy(const std::vector<double>& x) {
  double sum = 0.0;
  for (const double value : x) sum += value * value;
  return sum;
}

double squared_distance(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0.0;
  for (size_t i = 0; i < x.size(); ++i) sum += (x[i] - y[i]) * (x[i] - y[i]);
  return sum;
}

// The definition, one group of floats.
namespace reference {

float sum(Floats x) {
  for (size_t half = x.size() / 2; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) x[i] += x[i + half];
  }
  return x[0];
}

void hadamard(Floats& x) {
  for (size_t distance = x.size() / 2; distance > 0; distance /= 2) {
    for (size_t i = 0; i < x.size(); ++i) {
      if ((i & distance) != 0) continue;
      const float low = x[i], high = x[i + distance];
      x[i] = low + high;
      x[i + distance] = low - high;
    }
  }
}

bool is_minus(const RotatedFormat& format, int64_t element) {
  const auto place = static_cast<uint64_t>(element);
  const PhiloxWords words = philox(place / 128, format.signs.offset, format.signs.seed);
  return (words.word[place / 32 % 4] >> place % 32 & 1u) != 0;
}

struct Group {
  std::vector<int> codes;
  float mean, factor;
};

Group encode(const RotatedFormat& format, int64_t index, Floats x, int64_t count) {
  const generated::NormalQuantizer& table = generated::normal_quantizer(format.bits);
  const int half = 1 << (format.bits - 1);
  x.resize(static_cast<size_t>(format.group), 0.0f);
  Group result;
  result.mean = float_from_bf16(bf16_from_float(sum(x) / static_cast<float>(count)));
  Floats squares;
  for (size_t i = 0; i < x.size(); ++i) {
    const float rest = static_cast<int64_t>(i) < count ? x[i] - result.mean : 0.0f;
    squares.push_back(rest * rest);
    x[i] = is_minus(format, index * format.group + static_cast<int64_t>(i)) ? -rest : rest;
  }
  hadamard(x);
  const float root = std::sqrt(sum(squares));
  const float inverse = 1.0f / root;
  Floats products;
  for (const float y : x) {
    const float u = y * inverse;
    int place = 0;
    while (place < half - 1 && std::fabs(u) > table.thresholds[place]) ++place;
    products.push_back(std::fabs(u) * table.levels[place]);
    result.codes.push_back(std::signbit(u) ? half - 1 - place : half + place);
  }
  result.factor = float_from_bf16(bf16_from_float(root / sum(products)));
  return result;
}

Floats decode(const RotatedFormat& format, int64_t index, const Group& group) {
  const generated::NormalQuantizer& table = generated::normal_quantizer(format.bits);
  const int half = 1 << (format.bits - 1);
  Floats x;
  for (const int code : group.codes) {
    x.push_back(code < half ? -table.levels[half - 1 - code] : table.levels[code - half]);
  }
  hadamard(x);
  for (size_t i = 0; i < x.size(); ++i) {
    const int64_t element = index * format.group + static_cast<int64_t>(i);
    x[i] = group.mean + (is_minus(format, element) ? -group.factor : group.factor) * x[i];
  }
  return x;
}

}  // namespace reference

int code_at(const std::vector<uint8_t>& stream, int64_t i, int bits) {
  int code = 0;
  for (int k = 0; k < bits; ++k) {
    const int64_t bit = i * bits + k;
    code |= (stream[static_cast<size_t>(bit / 8)] >> bit % 8 & 1) << k;
  }
  return code;
}

void expect_as_reference(const RotatedFormat& format, const std::vector<double>& x) {
  const std::vector<uint8_t> bytes = bytes_of(format.type, x);
  const std::vector<double> given = values_of(format.type, bytes);
  const Kept kept = encode(format, bytes);
  const std::vector<double> decoded = values_of(format.type, decode(format, kept));
  for (int64_t index = 0; index < format.groups(); ++index) {
    const int64_t first = index * format.group;
    const int64_t count = std::min(format.group, format.count - first);
    const auto begin = given.begin() + first;
    const auto group = reference::encode(format, index, Floats(begin, begin + count), count);
    for (int64_t i = format.coded_elements() * format.bits / 8;
         i < static_cast<int64_t>(kept.codes.size()); ++i) {
      ASSERT_EQ(kept.codes[static_cast<size_t>(i)], 0) << "after the last code";
    }
    for (int64_t i = 0; i < format.group; ++i) {
      ASSERT_EQ(code_at(kept.codes, first + i, format.bits), group.codes[static_cast<size_t>(i)])
          << "group " << index << ", element " << i;
    }
    const Floats back = reference::decode(format, index, group);
    for (int64_t i = 0; i < count; ++i) {
      const auto bits = bytes_of(format.type, {back[static_cast<size_t>(i)]});
      ASSERT_EQ(decoded[static_cast<size_t>(first + i)], values_of(format.type, bits)[0])
          << "group " << index << ", element " << i;
    }
  }
}

TEST(Rotated, IsTheDefinitionOnEveryInstructionSet) {
  for_each_target([](int64_t target) {
    SCOPED_TRACE(hwy::TargetName(target));
    for (const auto type : {ElementType::f32, ElementType::bf16, ElementType::f16}) {
      for (int bits = 1; bits <= 8; ++bits) {
        for (const int64_t group : {64, 128, 256, 512, 1024}) {
          SCOPED_TRACE(testing::Message() << "type " << static_cast<int>(type) << ", " << bits
                                          << " bits, groups of " << group);
          expect_as_reference({type, bits, group, 3 * group + 17, {7, 11}},
                              normal(3 * group + 17, 1, 2.0, 0.5));
        }
      }
    }
  });
}

TEST(Rotated, TakesAnyCount) {
  for (const int64_t count : {1, 2, 63, 64, 65, 255, 256, 257, 1000, 5000}) {
    SCOPED_TRACE(count);
    expect_as_reference({ElementType::f32, 3, 256, count, {1, 2}}, normal(count, 5));
  }
}

TEST(Rotated, PartsOfARunAreTheWhole) {
  const RotatedFormat format{ElementType::f32, 2, 128, 10'000, {3, 4}};
  const auto x = bytes_of(format.type, normal(format.count, 2));
  const Kept whole = encode(format, x);
  Kept parts{std::vector<uint8_t>(whole.codes.size()),
             std::vector<uint8_t>(whole.constants.size())};
  std::vector<uint8_t> back(x.size());
  for (int64_t begin = 0; begin < format.groups(); begin += 7) {
    const GroupRange range{begin, std::min(begin + 7, format.groups())};
    rotated_encode(format, x.data(), parts.codes.data(), parts.constants.data(), range);
    rotated_decode(format, whole.codes.data(), whole.constants.data(), back.data(), range);
  }
  EXPECT_EQ(parts, whole);
  EXPECT_EQ(back, decode(format, whole));
}

// Of Gaussian groups, after the factor: D / (1 - D) of the energy, D the table's own error.
TEST(Rotated, ErrorIsTheTables) {
  for (int bits = 1; bits <= 8; ++bits) {
    const RotatedFormat format{ElementType::f32, bits, 256, 256 * 400, {5, 6}};
    const auto x = normal(format.count, 3);
    const double measured = squared_distance(x, there_and_back(format, x)) / energy(x);
    // The factor is rounded to bf16, which shows from 7 bits on.
    EXPECT_NEAR(measured / rotated_error(bits), 1.0, 0.06) << bits << " bits";
  }
}

// The same for what is nothing like Gaussian: half of it zeros, few large ones, one alone.
TEST(Rotated, ErrorDoesNotDependOnTheDistribution) {
  const RotatedFormat format{ElementType::f32, 2, 256, 256 * 400, {8, 9}};
  const double error = rotated_error(2);
  auto x = normal(format.count, 4);
  for (double& value : x) value = std::max(value, 0.0);
  EXPECT_LT(squared_distance(x, there_and_back(format, x)) / energy(x), error);
  for (double& value : x) value = std::pow(value, 5);
  EXPECT_LT(squared_distance(x, there_and_back(format, x)) / energy(x), 1.02 * error);
  // All of u is 1 or near it, which is beside the threshold.
  std::vector<double> alone(256, 0.0);
  alone[77] = 3.0;
  const auto back = there_and_back({ElementType::f32, 2, 256, 256, {8, 9}}, alone);
  EXPECT_LT(squared_distance(alone, back) / energy(alone), 1.5 * error);
}

// Over draws of the signs the mean error of every element is none: by its own standard error.
TEST(Rotated, HasNoBiasToSpeakOf) {
  constexpr int kDraws = 4000;
  for (const int bits : {1, 2, 4}) {
    std::vector<double> x = normal(256, 6);
    for (double& value : x) value = value > 0 ? value : 0.1 * value;  // skewed
    std::vector<double> sum(256, 0.0);
    double noise = 0.0;
    for (int draw = 0; draw < kDraws; ++draw) {
      const RotatedFormat format{
          ElementType::f32, bits, 256, 256, {99, static_cast<uint64_t>(draw)}};
      const auto back = there_and_back(format, x);
      for (size_t i = 0; i < 256; ++i) sum[i] += back[i] - x[i];
      noise += squared_distance(x, back);
    }
    noise /= kDraws;
    double bias = 0.0;
    for (const double value : sum) bias += value * value / kDraws / kDraws;
    // The mean of so many draws alone gives 1 / kDraws of the noise; 256 elements scatter by 9 %.
    EXPECT_LT(bias / noise, 1.0 / kDraws + 8e-4) << bits << " bits";
  }
}

TEST(Rotated, OtherSignsMakeOtherErrors) {
  const auto x = normal(256, 7);
  RotatedFormat format{ElementType::f32, 2, 256, 256, {1, 1}};
  const auto first = there_and_back(format, x);
  format.signs.offset = 2;
  EXPECT_NE(there_and_back(format, x), first);
  format.signs = {2, 1};
  EXPECT_NE(there_and_back(format, x), first);
}

TEST(Rotated, ConstantGroupsComeBackAsTheirMean) {
  for (const double value : {0.0, -1.5, 3e38, -1e-38, 65504.0}) {
    const auto back =
        there_and_back({ElementType::f32, 3, 64, 100, {1, 1}}, std::vector<double>(100, value));
    for (const double v : back) EXPECT_NEAR(v, value, std::fabs(value) / 250.0) << value;
  }
  const auto exact =
      there_and_back({ElementType::f32, 3, 64, 100, {1, 1}}, std::vector<double>(100, -1.5));
  EXPECT_EQ(exact, std::vector<double>(100, -1.5));
}

TEST(Rotated, AnyMagnitudeIsScaled) {
  for (const auto type : {ElementType::f32, ElementType::f64, ElementType::bf16}) {
    for (const double scale : {1e-36, 1e-30, 1e-20, 1e-10, 1e10, 1e20, 1e30, 1e37}) {
      const RotatedFormat format{type, 4, 256, 1024, {1, 2}};
      const auto x = normal(format.count, 8, scale);
      EXPECT_LT(squared_distance(x, there_and_back(format, x)) / energy(x), 0.012)
          << "type " << static_cast<int>(type) << ", " << scale;
    }
  }
  for (const double scale : {1e-290, 1e-150, 1e150, 1e290}) {
    const RotatedFormat format{ElementType::f64, 4, 256, 1024, {1, 2}};
    auto x = normal(format.count, 8, scale);
    auto back = there_and_back(format, x);
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] /= scale;
      back[i] /= scale;
    }
    EXPECT_LT(squared_distance(x, back) / energy(x), 0.012) << scale;
  }
}

TEST(Rotated, StaysFiniteAtTheEndOfEveryType) {
  const struct {
    ElementType type;
    double greatest;
  } cases[] = {{ElementType::f16, 65504.0},
               {ElementType::bf16, 3.3895313892515355e38},
               {ElementType::f32, 3.4028234663852886e38},
               {ElementType::f64, 1.7976931348623157e308}};
  for (const auto& [type, greatest] : cases) {
    for (int bits = 1; bits <= 8; ++bits) {
      std::vector<double> x(256, greatest);
      for (size_t i = 0; i < x.size(); i += 3) x[i] = -greatest;
      for (const double v : there_and_back({type, bits, 256, 256, {1, 2}}, x)) {
        EXPECT_TRUE(std::isfinite(v));
      }
    }
  }
}

TEST(Rotated, AGroupThatIsNotFiniteIsNaNAndOthersAreRight) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const auto type : {ElementType::f32, ElementType::f64, ElementType::bf16}) {
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity}) {
      const RotatedFormat format{type, 2, 64, 192, {1, 2}};
      auto x = normal(format.count, 9);
      const auto right = there_and_back(format, x);
      x[100] = bad;
      const auto back = there_and_back(format, x);
      for (size_t i = 0; i < x.size(); ++i) {
        if (i / 64 == 1) {
          EXPECT_TRUE(std::isnan(back[i]));
        } else {
          EXPECT_EQ(back[i], right[i]);
        }
      }
    }
  }
}

}  // namespace
}  // namespace fewbit::kernels::rotated_test
