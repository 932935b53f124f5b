// Elements that would drown the others: masks, padding, outliers, in every codec that loses
// something.
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "codecs/common.hpp"
#include "ops/integers.hpp"
#include "tests/codecs/support.hpp"

namespace fewbit::codecs::extremes_test {

constexpr int64_t kGroup = 256;
constexpr int64_t kSamples = 4;

/// Every codec of a scheme, at so many bits.
std::vector<CodecPointer> codecs_of(int bits, const at::Tensor& x) {
  const at::Tensor parity = at::arange(x.numel()).remainder(2).to(at::kByte);
  const at::Tensor codes = ops::integer_encode(parity, 0, 1);
  std::vector<CodecPointer> all{
      rotated({bits, kGroup}),
      rotated_by_class({bits, kGroup}, {2,
                                        [codes] {
                                          return ops::ElementClasses{codes, 1};
                                        },
                                        {}}),
      grouped(bits, kGroup),
      squares(bits, kGroup),
      grouped(at::full({kSamples}, bits, at::kByte), kGroup),
      grouped_by_sample(bits, kGroup),
      frequency_split(bits),
  };
  if (bits <= 4) {
    all.push_back(rotated({bits, kGroup, 4}));
    all.push_back(rotated({bits, kGroup, 8}));
  }
  return all;
}

/// Ordinary elements, and which of them become extreme, as bool.
struct Case {
  std::string name;
  at::Tensor ordinary;
  at::Tensor is_extreme;
  at::Tensor x;
};

at::Tensor ordinary_of(at::ScalarType type) {
  at::manual_seed(21);
  return at::randn({kSamples, 1, 48, 64}).to(type);
}

/// The mean squared error of those that are not extreme, over their energy.
double error_of_others(const Case& of, const CodecPointer& codec, const at::Tensor& x) {
  const at::Tensor others = run_of(of.is_extreme).logical_not();
  const at::Tensor exact = run_of(of.ordinary).masked_select(others).to(at::kDouble);
  double sum = 0.0;
  constexpr int64_t kDraws = 4;
  for (int64_t draw = 0; draw < kDraws; ++draw) {
    const at::Tensor back = codec->encode(x, random_of(9, draw << 32))->decoded();
    const at::Tensor error = back.masked_select(others).to(at::kDouble) - exact;
    sum += (error.square().sum() / exact.square().sum()).item().toDouble() / kDraws;
  }
  return sum;
}

/// `factor`: how much more error others may have than without extremes.
void expect_others_as_without(const Case& of, double factor) {
  for (const int bits : {1, 2, 4, 8}) {
    for (const CodecPointer& codec : codecs_of(bits, of.x)) {
      const double without = error_of_others(of, codec, of.ordinary);
      EXPECT_LT(error_of_others(of, codec, of.x), factor * without)
          << codec->name() << ", " << of.name;
    }
  }
}

void expect_extremes_exact(const Case& of, double relative = 0.0) {
  const at::Tensor exact = run_of(of.x).masked_select(run_of(of.is_extreme)).to(at::kDouble);
  for (const int bits : {1, 4, 8}) {
    for (const CodecPointer& codec : codecs_of(bits, of.x)) {
      const at::Tensor back = coded(codec, of.x).masked_select(run_of(of.is_extreme));
      EXPECT_TRUE(at::allclose(back.to(at::kDouble), exact, relative, 0.0))
          << codec->name() << ", " << of.name;
    }
  }
}

Case case_of(std::string name, const at::Tensor& ordinary, const at::Tensor& is_extreme,
             const at::Tensor& extreme) {
  const at::Tensor where = is_extreme.expand_as(ordinary).contiguous();
  return {std::move(name), ordinary, where,
          at::where(where, extreme.to(ordinary.scalar_type()), ordinary)};
}

std::vector<double> fills_of(at::ScalarType type) {
  std::vector<double> fills{-100.0, -1e4, 1e4};
  if (type != at::kHalf) {
    fills.push_back(-1e9);
    fills.push_back(-largest_of(type));
  }
  fills.push_back(-65504.0);
  return fills;
}

constexpr at::ScalarType kTypes[] = {at::kFloat, at::kBFloat16, at::kHalf};

TEST(Extremes, LeaveTheOthersTheirErrorUnderMasks) {
  for (const auto type : kTypes) {
    const at::Tensor ordinary = ordinary_of(type);
    const at::Tensor causal = at::ones({48, 64}, at::kBool).triu(1);
    const at::Tensor random = at::rand({kSamples, 1, 48, 64}).lt(0.3);
    for (const double fill : fills_of(type)) {
      const at::Tensor value = at::full({}, fill, at::kDouble).to(type);
      for (const auto& [name, mask] : {std::pair("causal", causal), {"random", random}}) {
        const Case of =
            case_of(std::string(name) + " mask at " + std::to_string(fill), ordinary, mask, value);
        expect_others_as_without(of, 1.25);
        expect_extremes_exact(of);
      }
    }
  }
}

// Scores to which a mask is added: no two extremes are the same number.
TEST(Extremes, LeaveTheOthersTheirErrorUnderAddedMasks) {
  const at::Tensor ordinary = ordinary_of(at::kFloat);
  const at::Tensor causal = at::ones({48, 64}, at::kBool).triu(1);
  const at::Tensor padding = at::rand({kSamples, 1, 1, 64}).lt(0.2);
  for (const double fill : {-1e4, -1e9}) {
    const Case once = case_of("added mask", ordinary, causal, ordinary + fill);
    expect_others_as_without(once, 1.5);
    expect_extremes_exact(once, 0x1p-8);
    const at::Tensor both = causal.to(at::kFloat) + padding.to(at::kFloat);
    const Case twice = case_of("two masks", ordinary, both.gt(0.0), ordinary + both * fill);
    expect_others_as_without(twice, 1.5);
    expect_extremes_exact(twice, 0x1p-8);
  }
}

TEST(Extremes, LeaveTheOthersTheirErrorBesidePadding) {
  for (const auto type : kTypes) {
    const at::Tensor ordinary = ordinary_of(type);
    // The last rows of every plane, whose ends groups do not know.
    const at::Tensor is_padding = at::arange(48).ge(37).unsqueeze(1);
    for (const double fill : {-100.0, 1000.0}) {
      const Case of = case_of("padding", ordinary, is_padding, at::full({}, fill));
      expect_others_as_without(of, 1.25);
      expect_extremes_exact(of);
    }
  }
}

// A channel of 64 of a pretrained transformer. Where it happens to be small it is one of the
// others.
TEST(Extremes, LeaveTheOthersTheirErrorBesideAChannel) {
  for (const auto type : kTypes) {
    const at::Tensor ordinary = ordinary_of(type);
    const at::Tensor is_channel = at::arange(64).eq(17);
    for (const double times : {100.0, 1000.0}) {
      const Case of = case_of("channel", ordinary, is_channel, ordinary * times);
      expect_others_as_without(of, 4.0);
    }
    const Case even = case_of("even channel", ordinary, is_channel, at::full({}, 250.0));
    expect_others_as_without(even, 1.25);
    expect_extremes_exact(even);
  }
}

TEST(Extremes, LeaveTheOthersTheirErrorBesideOne) {
  const at::Tensor ordinary = ordinary_of(at::kFloat);
  at::Tensor is_one = at::zeros({ordinary.numel()}, at::kBool);
  is_one[6789] = true;
  for (const double value : {-1e4, 1e9, 3e38}) {
    const Case of = case_of("one", ordinary, is_one.view(ordinary.sizes()), at::full({}, value));
    const at::Tensor back = coded(grouped(4, kGroup), of.x);
    EXPECT_EQ(back[6789].item<float>(), static_cast<float>(value));
    expect_others_as_without(of, 1.25);
  }
}

TEST(Extremes, AreLookedForAtEveryScaleAndOffset) {
  for (const double scale : {1e-38, 1e-25, 1e25, 1e33}) {
    const at::Tensor ordinary = ordinary_of(at::kFloat).mul(scale);
    const at::Tensor is_channel = at::arange(64).eq(17);
    const Case of = case_of("scale", ordinary, is_channel, at::full({}, 250.0 * scale));
    expect_extremes_exact(of);
  }
  const at::Tensor far = ordinary_of(at::kFloat).add(30.0);
  const Case of = case_of("far", far, at::arange(64).eq(17), at::full({}, -300.0));
  expect_extremes_exact(of);
}

// Their mean over draws is what they are.
TEST(Extremes, GiveTheOthersNoBias) {
  const at::Tensor ordinary = ordinary_of(at::kFloat).slice(0, 0, 1).contiguous();
  const at::Tensor is_extreme = at::ones({48, 64}, at::kBool).triu(1);
  for (const at::Tensor& extreme : {at::full({}, -1e4), ordinary + -1e4}) {
    const Case of = case_of("bias", ordinary, is_extreme, extreme);
    for (const int bits : {2, 8}) {
      for (const CodecPointer& codec : {rotated({bits, kGroup}), grouped(bits, kGroup)}) {
        constexpr int64_t kDraws = 256;
        at::Tensor sum = at::zeros({of.x.numel()}, at::kDouble);
        double squares = 0.0;
        for (int64_t draw = 0; draw < kDraws; ++draw) {
          const at::Tensor error =
              (codec->encode(of.x, random_of(3, draw << 32))->decoded() - run_of(of.x))
                  .masked_fill(run_of(of.is_extreme), 0.0)
                  .to(at::kDouble);
          sum += error;
          squares += error.square().sum().item().toDouble();
        }
        EXPECT_LT(sum.square().sum().item().toDouble() / squares, 1.2) << codec->name();
      }
    }
  }
}

// By what is stated: a bit an element and a number; an index and a value for each of few.
TEST(Extremes, TakeTheBytesThatAreStated) {
  const at::Tensor ordinary = ordinary_of(at::kFloat);
  const int64_t count = ordinary.numel();
  const Case mask =
      case_of("mask", ordinary, at::ones({48, 64}, at::kBool).triu(1), at::full({}, -1e4));
  const Case channel = case_of("channel", ordinary, at::arange(64).eq(17), at::full({}, 1e3));
  for (const CodecPointer& codec : {rotated({2, kGroup}), grouped(2, kGroup), frequency_split(2)}) {
    const int64_t plain = bytes_of(*codec->encode(ordinary, random_of(1)));
    EXPECT_EQ(bytes_ahead(*codec, ordinary), plain);
    EXPECT_EQ(bytes_of(*codec->encode(mask.x, random_of(1))), plain + count / 8 + 4);
    EXPECT_EQ(bytes_of(*codec->encode(channel.x, random_of(1))), plain + count / 64 * 8);
  }
}

TEST(Extremes, AreNotFoundWhereThereAreNone) {
  at::manual_seed(5);
  const at::Tensor normal = at::randn({1 << 16});
  for (const at::Tensor& x :
       {normal, normal.add(50.0), normal.clamp_min(0.0), at::gelu(normal.mul(3.0)), normal.abs(),
        at::rand({1 << 16}), at::zeros({1 << 16}), at::full({1 << 16}, 0.3),
        at::where(at::rand({1 << 16}).lt(0.01), normal, at::zeros({})), normal.sign()}) {
    const auto encoded = rotated({2, kGroup})->encode(x, random_of(1));
    EXPECT_EQ(encoded->tensors().size(), 3) << x.slice(0, 0, 10);
  }
}

TEST(Extremes, LeaveNumbersThatAreNoneWhereTheyAre) {
  at::Tensor x = run_of(ordinary_of(at::kFloat)).clone();
  const float infinity = std::numeric_limits<float>::infinity();
  x[300] = infinity;
  x[700] = std::numeric_limits<float>::quiet_NaN();
  x[2000] = 1e6;
  const at::Tensor back = coded(grouped(4, kGroup), x);
  EXPECT_TRUE(back.slice(0, 256, 768).isnan().all().item<bool>());
  EXPECT_TRUE(back.slice(0, 768, x.numel()).isfinite().all().item<bool>());
  EXPECT_EQ(back[2000].item<float>(), 1e6F);
}

TEST(Extremes, AreTheSameInAnyNumberOfElements) {
  for (const int64_t count : {64, 100, 255, 256, 300, 511, 513, 1023}) {
    at::manual_seed(8);
    at::Tensor x = at::randn({count});
    x[count - 1] = 5e4;
    x[3] = -7e4;
    const at::Tensor back = coded(rotated({3, 64}), x);
    EXPECT_EQ(back[count - 1].item<float>(), 5e4F) << count;
    EXPECT_EQ(back[3].item<float>(), -7e4F) << count;
    EXPECT_LT((back - x).abs().max().item<double>(), 3.0) << count;
  }
}

}  // namespace fewbit::codecs::extremes_test
