// Inputs of norms by the norm's own means and deviations.
#include <functional>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "tests/codecs/support.hpp"

namespace fewbit::codecs::normalized_test {

/// An input of a norm, and what the norm keeps of it.
struct Case {
  const char* name;
  at::Tensor x;
  Statistics statistics;
};

/// x [8, 12, 5, 6], whose rows, channels or groups have deviations and means over four decades.
std::vector<Case> cases(at::ScalarType type) {
  const at::Tensor x = at::randn({8, 12, 5, 6});
  const auto spread = [&](at::IntArrayRef beside) {
    return at::pow(10.0, at::rand(beside) * 4.0 - 2.0);
  };
  const auto of = [&](at::IntArrayRef beside) {
    return (x * spread(beside) + spread(beside)).to(type);
  };
  std::vector<Case> cases;
  {
    const at::Tensor rows = of({8, 12, 1, 1});
    const auto [y, mean, factor] = at::native_layer_norm(rows, {5, 6}, {}, {}, 1e-5);
    cases.push_back({"rows", rows, statistics_of(mean, factor)});
  }
  for (const auto format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
    const at::Tensor channels = of({1, 12, 1, 1}).contiguous(format);
    const auto [y, mean, factor] = at::native_batch_norm(channels, {}, {}, {}, {}, true, 0.1, 1e-5);
    cases.push_back({"channels", channels,
                     statistics_of(mean.view({1, 12, 1, 1}), factor.view({1, 12, 1, 1}))});
  }
  const at::Tensor groups = of({8, 12, 1, 1});
  const auto [y, mean, factor] = at::native_group_norm(groups, {}, {}, 8, 12, 30, 4, 1e-5);
  cases.push_back({"groups", groups,
                   statistics_of(mean.view({8, 4, 1, 1, 1}), factor.view({8, 4, 1, 1, 1}), 4)});
  return cases;
}

/// Of what the norm makes of the input, whose energy is 1.
double error_of(const CodecPointer& codec, const Case& one) {
  const at::Tensor back = coded(codec, one.x).as_strided(one.x.sizes(), one.x.strides());
  const at::Tensor rest = normalized(back.to(at::kDouble), one.statistics) -
                          normalized(one.x.to(at::kDouble), one.statistics);
  return rest.square().mean().item().toDouble();
}

TEST(Normalized, ErrsInEachRowByTheRowsOwnDeviation) {
  at::manual_seed(1);
  for (const auto type : {at::kFloat, at::kDouble}) {
    for (const Case& one : cases(type)) {
      const CodecPointer inner = rotated({2, 256, 0}), codec = normalized(inner, one.statistics);
      EXPECT_LT(error_of(codec, one), 0.14) << one.name;
      EXPECT_GT(error_of(inner, one), 1.0) << one.name;  // as if the groups had one deviation
    }
  }
}

TEST(Normalized, KeepsTypeLayoutAndBytes) {
  at::manual_seed(2);
  for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf, at::kDouble}) {
    for (const Case& one : cases(at::kFloat)) {
      const at::Tensor x = one.x.to(type);
      const CodecPointer inner = rotated({3, 256, 0}), codec = normalized(inner, one.statistics);
      ASSERT_TRUE(codec->takes(x));
      EXPECT_EQ(text_of(*codec), "normalised, 3 bits");
      const auto encoded = codec->encode(x, random_of(1));
      EXPECT_EQ(encoded->decoded().scalar_type(), type);
      EXPECT_EQ(encoded->decoded().numel(), x.numel());
      EXPECT_EQ(bytes_of(*encoded),
                bytes_of(*inner->encode(normalized(x, one.statistics), random_of(1))));
      EXPECT_TRUE(at::equal(encoded->decoded(), encoded->decoded()));
    }
  }
  EXPECT_FALSE(normalized(rotated({2, 256, 0}), {})->takes(at::randn({64})));
  const at::Tensor x = at::randn({16, 96});
  Statistics own = statistics_of({}, at::rsqrt(x.square().mean(-1, true)));
  const int64_t without = bytes_of(*normalized(rotated({2, 256, 0}), own)->encode(x, random_of(1)));
  own.is_kept_anyway = false;
  EXPECT_EQ(bytes_of(*normalized(rotated({2, 256, 0}), own)->encode(x, random_of(1))),
            without + 16 * 4);
}

TEST(Normalized, HasNoBias) {
  at::manual_seed(3);
  const at::Tensor x = at::randn({4, 96}) * at::tensor({1e-3, 1.0, 30.0, 1e4}).view({4, 1}) + 5.0;
  const auto [y, mean, factor] = at::native_layer_norm(x, {96}, {}, {}, 1e-5);
  const Statistics statistics = statistics_of(mean, factor);
  const CodecPointer codec = normalized(rotated({2, 64, 0}), statistics);
  constexpr int kDraws = 1024;
  at::Tensor sum = at::zeros({4, 96}, at::kDouble);
  double square = 0.0;
  const at::Tensor exact = normalized(x.to(at::kDouble), statistics);
  for (int draw = 0; draw < kDraws; ++draw) {
    const at::Tensor back = codec->encode(x, random_of(7, draw))->decoded().view({4, 96});
    const at::Tensor rest = normalized(back.to(at::kDouble), statistics) - exact;
    sum += rest;
    square += rest.square().sum().item().toDouble() / kDraws;
  }
  const double bias = (sum / kDraws).square().sum().item().toDouble();
  EXPECT_LT(bias * kDraws / square, 1.5);  // 1 where there is none
}

TEST(Normalized, StaysFiniteBeyondTheRangeOfVariances) {
  const at::Tensor x = at::randn({4, 256}) * at::tensor({0.0, 1e-30, 1e25, 1.0}).view({4, 1});
  const auto [y, mean, factor] = at::native_layer_norm(x, {256}, {}, {}, 1e-5);
  const CodecPointer codec = normalized(rotated({8, 256, 0}), statistics_of(mean, factor));
  const at::Tensor back = coded(codec, x).view({4, 256});
  EXPECT_TRUE(back.isfinite().all().item().toBool());
  EXPECT_TRUE(at::equal(back[0], x[0]));
  EXPECT_LT((back[2] - x[2]).norm().item().toDouble(), 0.02 * x[2].norm().item().toDouble());
}

}  // namespace fewbit::codecs::normalized_test
