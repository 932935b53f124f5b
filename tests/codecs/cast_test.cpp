// Casts to types of fewer bytes against their definition in doubles.
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "tests/codecs/support.hpp"
#include "tests/support/refusal.hpp"

namespace fewbit::codecs::cast_test {

/// A format by what it is made of. Its codes of positive finite numbers are 0 to `last`, in order.
struct Format {
  at::ScalarType type;
  const char* name;
  int exponent_bits;
  int mantissa_bits;
  int last;
  bool has_infinity;

  double value(int code) const {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = code >> mantissa_bits;
    const int mantissa = code & ((1 << mantissa_bits) - 1);
    const int whole = exponent == 0 ? mantissa : mantissa + (1 << mantissa_bits);
    return std::ldexp(whole, std::max(exponent, 1) - bias - mantissa_bits);
  }
};

constexpr Format kFormats[] = {{at::kBFloat16, "cast, bf16", 8, 7, 0x7F7F, true},
                               {at::kFloat8_e4m3fn, "cast, fp8 e4m3", 4, 3, 0x7E, false},
                               {at::kFloat8_e5m2, "cast, fp8 e5m2", 5, 2, 0x7B, true}};

/// The nearest number of the format; of two the one whose code is even; the largest for all beyond.
double nearest(const Format& format, double x) {
  if (std::isnan(x) || (std::isinf(x) && !format.has_infinity)) return NAN;
  const double magnitude = std::fabs(x);
  if (std::isinf(x)) return x;
  int low = 0;
  int high = format.last;
  if (magnitude >= format.value(high)) return std::copysign(format.value(high), x);
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (format.value(middle) <= magnitude ? low : high) = middle;
  }
  const double below = magnitude - format.value(low);
  const double above = format.value(high) - magnitude;
  const bool is_low = below < above || (below == above && low % 2 == 0);
  return std::copysign(format.value(is_low ? low : high), x);
}

void expect_definition(const Format& format, const at::Tensor& x) {
  const CodecPointer codec = cast(format.type);
  ASSERT_TRUE(codec->takes(x)) << x.scalar_type();
  const auto encoded = codec->encode(x, random_of(1));
  ASSERT_EQ(encoded->tensors()[0].scalar_type(), format.type);
  EXPECT_EQ(bytes_of(*encoded), x.numel() * static_cast<int64_t>(c10::elementSize(format.type)));
  const at::Tensor in = x.to(at::kDouble);
  const at::Tensor kept = encoded->tensors()[0].to(at::kDouble);
  for (int64_t i = 0; i < x.numel(); ++i) {
    const double from = in.const_data_ptr<double>()[i];
    const double seen = kept.const_data_ptr<double>()[i];
    const double wanted = nearest(format, from);
    ASSERT_EQ(std::isnan(seen), std::isnan(wanted)) << codec->name() << " of " << from;
    if (std::isnan(wanted)) continue;
    ASSERT_EQ(seen, wanted) << codec->name() << " of " << from;
    ASSERT_EQ(std::signbit(seen), std::signbit(wanted)) << codec->name() << " of " << from;
  }
  // What is kept comes back exactly: all of these formats are parts of the larger ones.
  EXPECT_TRUE(is_same(encoded->decoded(), encoded->tensors()[0].to(x.scalar_type())));
  EXPECT_TRUE(is_same(encoded->decoded().to(at::kDouble), kept));
}

/// All 65,536 numbers of a type.
at::Tensor all_of(at::ScalarType type) {
  return at::arange(0, 65536).to(at::kUInt16).view(type);
}

at::Tensor floats(const std::vector<float>& values) {
  return at::tensor(values);
}

TEST(Cast, RoundsAllNumbersOf16BitsToNearestEven) {
  for (const Format& format : kFormats) {
    if (format.type == at::kBFloat16) continue;
    for (const auto type : {at::kBFloat16, at::kHalf}) expect_definition(format, all_of(type));
  }
}

TEST(Cast, RoundsFloatsOfAllMagnitudesToNearestEven) {
  std::mt19937 random(5);
  std::vector<float> values;
  for (int i = 0; i < 300000; ++i) {
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
  }
  for (const Format& format : kFormats) expect_definition(format, floats(values));
}

TEST(Cast, RoundsFloatsAtAndBesideEveryNumberAndEveryMiddle) {
  for (const Format& format : kFormats) {
    std::vector<float> values;
    for (int code = 0; code < format.last; ++code) {
      const double value = format.value(code);
      for (const double place : {value, 0.5 * (value + format.value(code + 1))}) {
        const auto exact = static_cast<float>(place);
        for (const float near :
             {exact, std::nextafterf(exact, -1.0f), std::nextafterf(exact, INFINITY)}) {
          values.push_back(near);
          values.push_back(-near);
        }
      }
    }
    expect_definition(format, floats(values));
  }
}

TEST(Cast, KeepsWhatIsBeyondTheLargestAsTheLargest) {
  constexpr float kFloat = std::numeric_limits<float>::max();
  for (const Format& format : kFormats) {
    const auto largest = static_cast<float>(format.value(format.last));
    const auto next = std::nextafterf(largest, INFINITY);
    expect_definition(format, floats({largest, next, -next, kFloat, -kFloat}));
    const at::Tensor back = coded(cast(format.type), floats({next, kFloat, -kFloat}));
    EXPECT_TRUE(at::equal(back, floats({largest, largest, -largest})));
  }
}

TEST(Cast, KeepsNanAndInfinityAsFarAsTheTypeHasThem) {
  for (const Format& format : kFormats) {
    for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf}) {
      if (!cast(format.type)->takes(at::ones({1}, type))) continue;
      const at::Tensor x = floats({NAN, -NAN, INFINITY, -INFINITY, 0.0f, -0.0f}).to(type);
      expect_definition(format, x);
      const at::Tensor back = coded(cast(format.type), x);
      EXPECT_TRUE(back.slice(0, 0, 2).isnan().all().item().toBool());
      const at::Tensor infinities = back.slice(0, 2, 4);
      EXPECT_EQ(infinities.isinf().all().item().toBool(), format.has_infinity);
      EXPECT_EQ(infinities.isnan().all().item().toBool(), !format.has_infinity);
    }
  }
}

TEST(Cast, GivesElementsInTheOrderOfMemoryWhereverPartsEnd) {
  const at::Tensor images = at::randn({2, 3, 4, 5}).contiguous(at::MemoryFormat::ChannelsLast);
  const at::Tensor many = at::randn({(1 << 20) * 2 + 77});
  for (const Format& format : kFormats) {
    for (const at::Tensor& x : {images, images.slice(0, 1), many, many.narrow(0, 0, 1 << 20)}) {
      EXPECT_TRUE(is_same(coded(cast(format.type), x), run_of(x).to(format.type).to(at::kFloat)));
    }
    EXPECT_EQ(coded(cast(format.type), at::empty({0, 3})).sizes(), at::IntArrayRef({0}));
  }
}

TEST(Cast, TakesWhatItMakesSmallerWithOneRounding) {
  for (const Format& format : kFormats) {
    const CodecPointer codec = cast(format.type);
    EXPECT_EQ(codec->name(), format.name);
    const auto takes = [&](at::ScalarType type) { return codec->takes(at::ones({2}, type)); };
    EXPECT_TRUE(takes(at::kFloat));
    for (const auto type : {at::kBFloat16, at::kHalf}) {
      EXPECT_EQ(takes(type), format.type != at::kBFloat16);
    }
    for (const auto type : {at::kDouble, at::kLong, at::kBool, at::kComplexFloat,
                            at::kFloat8_e4m3fn, at::kFloat8_e5m2}) {
      EXPECT_FALSE(takes(type)) << type;
    }
  }
  EXPECT_EQ(test::refusal([] { cast(at::kHalf); }),
            "fewbit::codecs::cast: a type of Half, accepted: bfloat16, float8_e4m3fn, float8_e5m2");
}

}  // namespace fewbit::codecs::cast_test
