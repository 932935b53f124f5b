// BLPA's codec: inputs of norms, by equal bins of their outputs.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "tests/codecs/support.hpp"
#include "tests/support/refusal.hpp"

namespace fewbit::codecs::normal_fixed_point_test {

constexpr double kEpsilon = 1e-5;

/// A batch norm of channels, as they stand beside [N, C, rows, columns].
Norm batch_norm(const at::Tensor& weight, const at::Tensor& bias) {
  const std::vector<int64_t> beside = {1, -1, 1, 1};
  return {.over = {0, 2, 3},
          .epsilon = kEpsilon,
          .weight = weight.defined() ? weight.view(beside) : weight,
          .bias = bias.defined() ? bias.view(beside) : bias};
}

at::Tensor back(const CodecPointer& codec, const at::Tensor& x) {
  return coded(codec, x).as_strided(x.sizes(), x.strides());
}

/// What the norm of x makes of any z: by x's statistics.
at::Tensor normed(const at::Tensor& z, const Norm& norm, const at::Tensor& x) {
  const at::Tensor exact = x.to(at::kDouble);
  const at::Tensor mean = exact.mean(norm.over, true);
  const at::Tensor variance = (exact - mean).square().mean(norm.over, true);
  at::Tensor y = (z.to(at::kDouble) - mean) / (variance + norm.epsilon).sqrt();
  if (norm.weight.defined()) y = y * norm.weight;
  return norm.bias.defined() ? y + norm.bias : y;
}

/// Every ratio of bias to weight from -5 to 5, weights of both signs and all magnitudes.
Norm all_ratios() {
  const at::Tensor ratios = at::linspace(-5.0, 5.0, 101, at::kDouble).repeat({2});
  const at::Tensor weight =
      at::logspace(-3.0, 2.0, 202, 10.0, at::kDouble) * at::tensor({1.0, -1.0}).repeat({101});
  return batch_norm(weight, ratios * weight.abs());
}

at::Tensor normal(at::IntArrayRef sizes) {
  return at::randn(sizes, at::kDouble) * 3.0 + 7.0;
}

TEST(NormalFixedPoint, ErrsByHalfABinWhereNothingIsCutOff) {
  at::manual_seed(1);
  const at::Tensor x = normal({16, 202, 5, 7});
  const Norm norm = all_ratios();
  const at::Tensor y = normed(x, norm, x);
  for (const int bits : {1, 2, 4, 8}) {
    const at::Tensor error = (normed(back(normal_fixed_point(bits, norm), x), norm, x) - y).abs();
    const at::Tensor bin = 6.0 * norm.weight.abs() / (1 << bits);
    // A bin more than the range's half may be cut off: edges lie where the output's zero is.
    const at::Tensor is_inside = (y - norm.bias).abs() < 3.0 * norm.weight.abs() - bin;
    EXPECT_TRUE(
        (error <= bin * (0.5 + 1e-9)).logical_or(is_inside.logical_not()).all().item().toBool())
        << bits;
    EXPECT_GT((error > bin * 0.49).logical_and(is_inside).sum().item().toLong(),
              bits > 1 ? 100 : -1);
  }
}

TEST(NormalFixedPoint, KeepsTheSignsOfAllOutputs) {
  at::manual_seed(2);
  const at::Tensor x = normal({16, 202, 5, 7});
  const Norm norm = all_ratios();
  const at::Tensor y = normed(x, norm, x);
  for (const int bits : {1, 2, 4, 8}) {
    const at::Tensor again = normed(back(normal_fixed_point(bits, norm), x), norm, x);
    EXPECT_TRUE(at::equal(again.gt(0.0), y.gt(0.0))) << bits;
  }
}

/// The paper's formula, which cuts off at the ends wherever zero is: outputs over weights that are
/// positive.
at::Tensor by_paper(const at::Tensor& y, const at::Tensor& weight, const at::Tensor& bias,
                    int bits) {
  const at::Tensor scale = (1 << bits) / (6.0 * weight);
  const at::Tensor shift = (1 << (bits - 1)) - (bias * scale).floor();
  const at::Tensor code = ((y * scale).floor() + shift).clamp(0, (1 << bits) - 1);
  return (code + 0.5 - shift) / scale;
}

// It agrees with the paper's where that one is sound, and that one is not elsewhere.
TEST(NormalFixedPoint, IsThePapersWhereThatKeepsSigns) {
  at::manual_seed(3);
  const at::Tensor ratios = at::linspace(-4.93, 4.97, 100, at::kDouble);  // on no edge
  const at::Tensor weight = at::full({100}, 0.7, at::kDouble);
  const Norm norm = batch_norm(weight, ratios * weight);
  const at::Tensor x = normal({64, 100, 5, 7});
  const at::Tensor y = normed(x, norm, x);
  for (const int bits : {2, 4, 8}) {
    const double least = -(std::exp2(bits - 1) - 1.0) * 6.0 / std::exp2(bits);
    const at::Tensor is_sound = ratios.gt(least).logical_and(ratios.lt(3.0));
    const at::Tensor paper = by_paper(y, norm.weight, norm.bias, bits);
    const at::Tensor ours = normed(back(normal_fixed_point(bits, norm), x), norm, x);
    const at::Tensor sound = is_sound.nonzero().flatten();
    EXPECT_TRUE(
        at::allclose(ours.index_select(1, sound), paper.index_select(1, sound), 1e-9, 1e-9));
    EXPECT_TRUE(at::equal(paper.gt(0.0).index_select(1, sound), y.gt(0.0).index_select(1, sound)));
    EXPECT_FALSE(at::equal(paper.gt(0.0), y.gt(0.0))) << bits;
  }
}

// Squared errors of N(0, 1) that the paper's grid has, and no more than these wherever zero is.
TEST(NormalFixedPoint, HasTheErrorOfItsBins) {
  at::manual_seed(4);
  const at::Tensor x = at::randn({512, 5, 16, 16});
  const at::Tensor ratios = at::tensor({0.0, 2.0, -2.0, 30.0, -1e9});
  for (const auto& [bits, expected] :
       {std::pair(8, 4.7e-4), std::pair(4, 1.25e-2), std::pair(2, 1.9e-1)}) {
    const CodecPointer codec = normal_fixed_point(bits, batch_norm(at::ones({5}), ratios));
    const at::Tensor errors = (back(codec, x) - x).square().mean({0, 2, 3});
    EXPECT_NEAR(errors[0].item().toDouble(), expected, 0.05 * expected);
    for (int64_t i = 1; i < 5; ++i) {
      EXPECT_LT(errors[i].item().toDouble(), 2.0 * expected) << bits << ", " << ratios[i].item();
    }
  }
}

TEST(NormalFixedPoint, TakesWeightsOfEveryKind) {
  at::manual_seed(5);
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const at::Tensor weight = at::tensor({0.0, 0.0, 1e-30, -1e-30, kNan, 1.0, -1.0, 1e30});
  const at::Tensor bias = at::tensor({0.0, -1.0, 1.0, 1.0, 0.0, kNan, 0.0, 1.0});
  const at::Tensor x = normal({16, 8, 9, 9});
  for (const at::Tensor& weights : {weight, at::Tensor()}) {
    for (const at::Tensor& biases : {bias, at::Tensor()}) {
      const at::Tensor again = back(normal_fixed_point(6, batch_norm(weights, biases)), x);
      EXPECT_LT((again - x).abs().max().item().toDouble(),
                4.0);  // of some beyond 3 deviations of 3
      EXPECT_LT((again - x).square().mean().item().toDouble(), 0.04);
    }
  }
}

TEST(NormalFixedPoint, IsOfLayersAndGroupsToo) {
  at::manual_seed(6);
  const at::Tensor x = at::randn({32, 12, 6, 10}) * at::arange(1, 33).view({-1, 1, 1, 1});
  const Norm layer{.over = {2, 3},
                   .epsilon = kEpsilon,
                   .weight = at::randn({6, 10}),
                   .bias = at::randn({6, 10})};
  const Norm group{.over = {2, 3, 4},
                   .groups = 3,
                   .epsilon = kEpsilon,
                   .weight = at::randn({3, 4, 1, 1}),
                   .bias = at::randn({3, 4, 1, 1})};
  for (const Norm& norm : {layer, group}) {
    const CodecPointer codec = normal_fixed_point(8, norm);
    ASSERT_TRUE(codec->takes(x));
    const at::Tensor again = back(codec, x);
    // In each sample's own measure.
    EXPECT_LT(
        ((again - x).square().sum({1, 2, 3}) / x.square().sum({1, 2, 3})).max().item().toDouble(),
        1e-2);
  }
}

TEST(NormalFixedPoint, IsOfEveryTypeAndLayout) {
  at::manual_seed(7);
  const Norm norm = batch_norm(at::randn({4}), at::randn({4}));
  const CodecPointer codec = normal_fixed_point(3, norm);
  const at::Tensor x = at::randn({8, 4, 5, 6});
  const at::Tensor wanted = back(codec, x);
  for (const at::Tensor& laid_out : {x.contiguous(at::MemoryFormat::ChannelsLast),
                                     x.transpose(0, 3).contiguous().transpose(0, 3)}) {
    EXPECT_TRUE(at::allclose(back(codec, laid_out), wanted, 1e-5, 1e-5));
  }
  const Norm group{.over = {2, 3, 4}, .groups = 2, .epsilon = kEpsilon};
  EXPECT_TRUE(
      at::allclose(back(normal_fixed_point(3, group), x.contiguous(at::MemoryFormat::ChannelsLast)),
                   back(normal_fixed_point(3, group), x), 1e-5, 1e-5));
  for (const auto type : {at::kBFloat16, at::kHalf}) {
    const at::Tensor again = back(normal_fixed_point(8, norm), x.to(type));
    EXPECT_EQ(again.scalar_type(), type);
    EXPECT_LT((again.to(at::kFloat) - x).square().mean().item().toDouble(), 2e-3);
  }
}

TEST(NormalFixedPoint, KeepsItsBitsMeansAndDeviations) {
  const Norm norm = batch_norm(at::randn({4}), at::randn({4}));
  const at::Tensor x = at::randn({16, 4, 8, 8});
  for (int bits = 1; bits <= 8; ++bits) {
    const auto encoded = normal_fixed_point(bits, norm)->encode(x, random_of(1));
    EXPECT_EQ(bytes_of(*encoded), 4096 * bits / 8 + 4 * 4 * 4);
    EXPECT_EQ(bytes_ahead(*normal_fixed_point(bits, norm), x), bytes_of(*encoded));
  }
}

TEST(NormalFixedPoint, MakesNanOfAChannelWithOne) {
  const at::Tensor x = at::randn({4, 3, 5, 5});
  const CodecPointer codec = normal_fixed_point(4, batch_norm({}, {}));
  const at::Tensor wanted = back(codec, x);
  for (const double value : {NAN, INFINITY}) {
    at::Tensor odd = x.clone();
    odd[2][1][3][3] = value;
    const at::Tensor again = back(codec, odd);
    EXPECT_TRUE(again.select(1, 1).isnan().all().item().toBool());
    EXPECT_TRUE(at::equal(again.select(1, 2), wanted.select(1, 2)));
  }
}

TEST(NormalFixedPoint, TakesWhatItsNormTakes) {
  const CodecPointer codec = normal_fixed_point(2, batch_norm(at::ones({4}), {}));
  EXPECT_EQ(text_of(*codec), "fixed point, 2 bits");
  EXPECT_TRUE(codec->takes(at::ones({2, 4, 3, 3})));
  EXPECT_FALSE(codec->takes(at::ones({2, 5, 3, 3})));
  EXPECT_FALSE(codec->takes(at::ones({2, 4, 3})));
  EXPECT_FALSE(codec->takes(at::ones({2, 4, 3, 3}, at::kLong)));
  EXPECT_FALSE(codec->takes(at::ones({0, 4, 3, 3})));
  EXPECT_FALSE(normal_fixed_point(2, {.over = {2}, .groups = 3})->takes(at::ones({2, 4})));
  EXPECT_EQ(test::refusal([] { normal_fixed_point(9, Norm()); }),
            "fewbit::codecs::normal_fixed_point: bits is 9, accepted: 1 to 8");
}

}  // namespace fewbit::codecs::normal_fixed_point_test
