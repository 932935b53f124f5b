// Samples with bits of their own: each one's codes, constants and values are its run's alone.
#include "kernels/quantizer/group_samples.hpp"

#include <gtest/gtest.h>

#include "tests/kernels/group_reference.hpp"

namespace fewbit::kernels::group_samples_test {

constexpr ElementType kTypes[] = {ElementType::f32, ElementType::bf16, ElementType::f16,
                                  ElementType::f64};
constexpr Rounding kRoundings[] = {Rounding::nearest, Rounding::stochastic, Rounding::dithered,
                                   Rounding::squares};
constexpr PhiloxState kRandom{0x123456789ABCDEFu, 0xFEDCBA987u};

/// Every width, in no order.
std::vector<uint8_t> mixed_bits(int64_t number) {
  constexpr uint8_t kOrder[] = {3, 8, 1, 5, 2, 7, 4, 6};
  std::vector<uint8_t> bits;
  for (int64_t i = 0; i < number; ++i) bits.push_back(kOrder[i % 8]);
  return bits;
}

/// Samples of different scales, one after the other.
std::vector<double> samples_of(int64_t number, int64_t count) {
  std::vector<double> x = normal_inputs(number * count, 11);
  for (int64_t i = 0; i < number * count; ++i) {
    x[static_cast<size_t>(i)] *= static_cast<double>(1 + i / count);
  }
  return x;
}

/// The samples of a batch: bits, and where codes begin.
struct Batch {
  std::vector<uint8_t> bits;
  int64_t count;
  std::vector<int64_t> offsets;

  Batch(std::vector<uint8_t> bits_of_samples, int64_t elements)
      : bits(std::move(bits_of_samples)),
        count(elements),
        offsets(code_offsets(bits.data(), number(), count)) {}
  int64_t number() const { return static_cast<int64_t>(bits.size()); }
  Samples samples() const { return {bits.data(), offsets.data(), number(), count}; }
  int64_t parts(const GroupFormat& format) const { return part_count(samples(), format.group); }

  Encoded empty(const GroupFormat& format) const {
    const int64_t groups = number() * group_count(count, format.group);
    return {std::vector<uint8_t>(static_cast<size_t>(offsets.back()), 0xFF),
            std::vector<uint8_t>(static_cast<size_t>(groups * constant_bytes(format.type)), 0xFF)};
  }
};

Encoded encode(const GroupFormat& format, const Batch& batch, const std::vector<uint8_t>& x) {
  Encoded result = batch.empty(format);
  group_encode_samples(format, batch.samples(), x.data(), result.codes.data(),
                       result.constants.data(), 0, batch.parts(format));
  return result;
}

std::vector<uint8_t> decode(const GroupFormat& format, const Batch& batch, const Encoded& encoded) {
  std::vector<uint8_t> x(
      static_cast<size_t>(batch.number() * batch.count * element_bytes(format.type)), 0xFF);
  group_decode_samples(format, batch.samples(), encoded.codes.data(), encoded.constants.data(),
                       x.data(), 0, batch.parts(format));
  return x;
}

/// The definition, sample by sample.
ReferenceGroups reference_samples(const GroupFormat& format, const Batch& batch,
                                  const std::vector<double>& x) {
  ReferenceGroups all;
  const auto append = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (int64_t i = 0; i < batch.number(); ++i) {
    GroupFormat own = format;
    own.bits = batch.bits[static_cast<size_t>(i)];
    own.random.offset = format.random.offset + (static_cast<uint64_t>(i) << 32);
    const auto begin = x.begin() + i * batch.count;
    const ReferenceGroups one = reference_groups(own, {begin, begin + batch.count});
    append(all.encoded.codes, one.encoded.codes);
    append(all.encoded.constants, one.encoded.constants);
    append(all.values, one.values);
  }
  return all;
}

void expect_definition(const GroupFormat& format, const Batch& batch) {
  const std::vector<double> values = samples_of(batch.number(), batch.count);
  const std::vector<uint8_t> x = bytes_of(values, format.type);
  const ReferenceGroups wanted = reference_samples(format, batch, elements(x, format.type));
  const std::vector<uint8_t> back = bytes_of(wanted.values, format.type);
  for_each_target([&](int64_t target) {
    const Encoded encoded = encode(format, batch, x);
    ASSERT_EQ(encoded, wanted.encoded)
        << batch.number() << " of " << batch.count << ", " << hwy::TargetName(target);
    ASSERT_EQ(decode(format, batch, encoded), back)
        << batch.number() << " of " << batch.count << ", " << hwy::TargetName(target);
  });
}

TEST(GroupSamples, AreTheirRunsAloneForEveryTypeGroupAndSize) {
  int turn = 0;
  for (const ElementType type : kTypes) {
    for (const int64_t group : {64, 256, 1024}) {
      for (const int64_t count : {1, 7, 63, 64, 65, 511, 513, 1025, 2500}) {
        const GroupFormat format{type, 0, group, kRoundings[turn++ % 3], kRandom};
        for (const int64_t number : {1, 2, 9})
          expect_definition(format, {mixed_bits(number), count});
      }
    }
  }
}

TEST(GroupSamples, WithTheSameBitsAreOneRunWhereTheirGroupsAndBytesEndTogether) {
  constexpr int64_t kCount = 1024;
  const std::vector<uint8_t> x = bytes_of(samples_of(5, kCount), ElementType::f32);
  for (int bits = 1; bits <= 8; ++bits) {
    const GroupFormat format{ElementType::f32, bits, 128, Rounding::nearest};
    const Batch batch(std::vector<uint8_t>(5, static_cast<uint8_t>(bits)), kCount);
    EXPECT_EQ(encode(format, batch, x), run_group_encode(format, x));
  }
}

TEST(GroupSamples, TakeNothingWhereThereAreNone) {
  const GroupFormat format{ElementType::f32, 0, 64, Rounding::nearest};
  for (const Batch& batch : {Batch({}, 100), Batch({}, 0), Batch({1, 8}, 0)}) {
    EXPECT_EQ(batch.parts(format), 0);
    EXPECT_EQ(batch.offsets.back(), 0);
    EXPECT_EQ(encode(format, batch, {}), Encoded());
    EXPECT_EQ(decode(format, batch, {}), std::vector<uint8_t>());
  }
}

TEST(GroupSamples, BeginWhereTheBytesOfThoseBeforeThemEnd) {
  for (const int64_t count : {1, 43, 128, 1000, 1001}) {
    const Batch batch(mixed_bits(17), count);
    int64_t sum = 0;
    for (size_t i = 0; i < 17; ++i) {
      EXPECT_EQ(batch.offsets[i], sum);
      EXPECT_EQ(batch.offsets[i] % 16, 0);
      sum += code_bytes(count, batch.bits[i]);
    }
    EXPECT_EQ(batch.offsets.back(), sum);
  }
  const std::vector<uint8_t> bits{8, 1};
  EXPECT_EQ(code_offsets(bits.data(), 2, int64_t{1} << 40)[2], 9 * (int64_t{1} << 37));
}

TEST(GroupSamples, DoNotDependOnTheSplitIntoPartsNorOnTheirOrder) {
  for (const ElementType type : kTypes) {
    for (const int64_t count : {100, 1000, 3 * 1024 + 5}) {
      const GroupFormat format{type, 0, 256, Rounding::dithered, kRandom};
      const Batch batch(mixed_bits(7), count);
      const std::vector<uint8_t> x = bytes_of(samples_of(7, count), type);
      const Encoded whole = encode(format, batch, x);
      const std::vector<uint8_t> values = decode(format, batch, whole);
      for (const int64_t step : {1, 2, 5}) {
        Encoded split = batch.empty(format);
        std::vector<uint8_t> back(x.size(), 0xFF);
        const int64_t parts = batch.parts(format);
        for (int64_t begin = (parts - 1) / step * step; begin >= 0; begin -= step) {
          const int64_t end = std::min(begin + step, parts);
          group_encode_samples(format, batch.samples(), x.data(), split.codes.data(),
                               split.constants.data(), begin, end);
          group_decode_samples(format, batch.samples(), whole.codes.data(), whole.constants.data(),
                               back.data(), begin, end);
        }
        EXPECT_EQ(split, whole);
        EXPECT_EQ(back, values);
      }
    }
  }
}

TEST(GroupSamples, WithNanAreAllNanInThatGroupAndNoOtherSampleIs) {
  const Batch batch(mixed_bits(5), 100);
  for (const ElementType type : kTypes) {
    const GroupFormat format{type, 0, 64, Rounding::stochastic, kRandom};
    std::vector<double> x = samples_of(5, 100);
    x[2 * 100 + 99] = NAN;
    const auto encoded = encode(format, batch, bytes_of(x, type));
    const std::vector<double> back = elements(decode(format, batch, encoded), type);
    for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(std::isnan(back[i]), i / 100 == 2 && i >= 264);
  }
}

/// Sums over draws of the errors of every element, and of their squares.
struct Errors {
  std::vector<double> sum;
  std::vector<double> square;
};

constexpr int kDraws = 3000;

Errors draw(GroupFormat format, const Batch& batch, const std::vector<double>& x) {
  Errors errors{std::vector<double>(x.size()), std::vector<double>(x.size())};
  const std::vector<uint8_t> bytes = bytes_of(x, format.type);
  for (int i = 0; i < kDraws; ++i) {
    format.random = {77, static_cast<uint64_t>(i)};
    const auto encoded = encode(format, batch, bytes);
    const std::vector<double> back = elements(decode(format, batch, encoded), format.type);
    for (size_t k = 0; k < x.size(); ++k) {
      const double error = back[k] - x[k];
      errors.sum[k] += error;
      errors.square[k] += error * error;
    }
  }
  return errors;
}

/// Exact variances of an element's error and of that error's square.
struct Variance {
  double error;
  double square;
};

Variance variance_of(const GroupFormat& format, const ReferenceConstants& of, double value) {
  const double step = 2.0 * of.half_range / ((1 << format.bits) - 1);
  const double fourth = step * step * step * step;
  if (format.rounding == Rounding::dithered) return {step * step / 12, fourth / 180};
  const double t = (value - of.minimum) / step;
  const double f = t - std::floor(t);
  return {f * (1 - f) * step * step, f * (1 - f) * (1 - 2 * f) * (1 - 2 * f) * fourth};
}

std::vector<Variance> variances(const GroupFormat& format, const std::vector<double>& sample) {
  std::vector<Variance> of_elements;
  const auto length = static_cast<size_t>(format.group);
  for (size_t i = 0; i < sample.size(); ++i) {
    const auto begin = sample.begin() + static_cast<std::ptrdiff_t>(i / length * length);
    const auto end = sample.end() - begin > format.group ? begin + format.group : sample.end();
    const ReferenceConstants of = reference_constants(format.type, {begin, end});
    of_elements.push_back(variance_of(format, of, sample[i]));
  }
  return of_elements;
}

/// The errors of one sample against what they should be, each element and all together.
void expect_variances(const Errors& errors, size_t first, const std::vector<Variance>& wanted) {
  Variance all{};
  double sum = 0.0;
  double square = 0.0;
  for (size_t k = 0; k < wanted.size(); ++k) {
    const double deviation = std::sqrt(wanted[k].error * kDraws);
    ASSERT_LE(std::fabs(errors.sum[first + k]), 5 * deviation + 1e-6 * kDraws) << k;
    sum += errors.sum[first + k];
    square += errors.square[first + k];
    all.error += wanted[k].error;
    all.square += wanted[k].square;
  }
  const auto count = static_cast<double>(wanted.size());
  EXPECT_LE(std::fabs(sum), 4 * std::sqrt(all.error * kDraws) + 1e-6 * kDraws * count);
  // t is that of the definition within 2^-22 of the range, 6e-5 of a step of 8 bits.
  EXPECT_NEAR(square, all.error * kDraws,
              4 * std::sqrt(all.square * kDraws) + 2e-4 * all.error * kDraws);
}

TEST(GroupSamples, HaveTheirElementsAsMeansAndTheVarianceOfTheirOwnBits) {
  constexpr int64_t kCount = 100;  // a whole group and a short one
  const Batch batch({1, 2, 3, 4, 8}, kCount);
  std::vector<double> x = samples_of(batch.number(), kCount);
  for (double& value : x) value = static_cast<double>(static_cast<float>(value));
  for (const Rounding rounding : {Rounding::stochastic, Rounding::dithered}) {
    GroupFormat format{ElementType::f32, 0, 64, rounding, {}};
    const Errors errors = draw(format, batch, x);
    for (size_t i = 0; i < batch.bits.size(); ++i) {
      format.bits = batch.bits[i];
      SCOPED_TRACE(std::to_string(format.bits) + " bits");
      const auto begin = x.begin() + static_cast<std::ptrdiff_t>(i) * kCount;
      expect_variances(errors, i * kCount, variances(format, {begin, begin + kCount}));
    }
  }
}

TEST(GroupSamples, RoundIndependentlyOfEachOther) {
  constexpr int64_t kCount = 64;
  const std::vector<double> sample =
      elements(bytes_of(normal_inputs(kCount, 3), ElementType::f32), ElementType::f32);
  std::vector<double> x = sample;
  x.insert(x.end(), sample.begin(), sample.end());
  const Batch batch({2, 2}, kCount);
  GroupFormat format{ElementType::f32, 2, 64, Rounding::stochastic, {}};
  double product = 0.0;
  for (int i = 0; i < kDraws; ++i) {
    format.random = {78, static_cast<uint64_t>(i)};
    const auto encoded = encode(format, batch, bytes_of(x, format.type));
    const std::vector<double> back = elements(decode(format, batch, encoded), format.type);
    for (size_t k = 0; k < kCount; ++k) product += (back[k] - x[k]) * (back[k + kCount] - x[k]);
  }
  double variance = 0.0;  // of the product of independent errors
  for (const Variance& of : variances(format, sample)) variance += of.error * of.error;
  EXPECT_LE(std::fabs(product), 4 * std::sqrt(variance * kDraws));
}

}  // namespace fewbit::kernels::group_samples_test
