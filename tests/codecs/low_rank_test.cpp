// Directions of channels apart, the rest rotated: less error, no bias whatever the directions are,
// bytes that are known.
#include <cmath>
#include <vector>

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "tests/codecs/support.hpp"
#include "tests/support/refusal.hpp"

namespace fewbit::codecs::low_rank_test {

/// Tokens by channels, of which `rank` directions hold `share` of the energy.
struct Tokens {
  at::Tensor x, directions;

  Tokens(int64_t tokens, int64_t channels, int64_t rank, double share, uint64_t seed = 1) {
    at::manual_seed(seed);
    directions = std::get<0>(at::linalg_qr(at::randn({channels, rank}, at::kDouble))).t();
    const double scale = std::sqrt(share * static_cast<double>(channels) /
                                   (static_cast<double>(rank) * (1.0 - share)));
    x = at::randn({tokens, channels}, at::kDouble) +
        at::matmul(at::randn({tokens, rank}, at::kDouble) * scale, directions);
  }

  /// The first k.
  Directions of(int64_t k, int bits = 4, int64_t inner = 1) const {
    return {ops::basis_of(directions.narrow(0, 0, k)), {x.size(1), inner}, bits};
  }
};

// By the book: the rest's energy and what coefficients lose, in the rest's bits.
TEST(LowRank, HasTheErrorThatIsLeft) {
  constexpr double kShare = 0.9;
  const Tokens tokens(2000, 384, 8, kShare);
  for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    const at::Tensor x = tokens.x.to(type);
    for (const int of_coefficients : {2, 4, 6}) {
      for (const int bits : {1, 2, 4}) {
        const RotatedCodes form{bits, 256};
        const double lost = ops::rotated_error({of_coefficients, 256});
        const double wanted = ops::rotated_error(form) * (1.0 - kShare + kShare * lost);
        EXPECT_NEAR(error_of(low_rank(form, tokens.of(8, of_coefficients)), x), wanted,
                    0.08 * wanted)
            << type << ' ' << of_coefficients << ' ' << bits;
      }
    }
  }
}

// Channels may lie anywhere in memory.
TEST(LowRank, IsOfChannelsWhereverTheyLie) {
  const Tokens tokens(6 * 49, 96, 4, 0.8);
  const at::Tensor x = tokens.x.to(at::kFloat);
  const at::Tensor images = x.view({6, 7, 7, 96}).permute({0, 3, 1, 2});
  const RotatedCodes form{2, 64};
  const double of_tokens = error_of(low_rank(form, tokens.of(4)), x);
  EXPECT_LT(of_tokens, 0.3 * error_of(rotated(form), x));
  EXPECT_NEAR(error_of(low_rank(form, tokens.of(4, 4, 49)), images.contiguous()), of_tokens,
              0.1 * of_tokens);
}

// Directions of anything are never worse than none, but for rounding.
TEST(LowRank, IsNoWorseWhateverTheDirectionsAre) {
  const Tokens tokens(1000, 128, 4, 0.5), others(1000, 128, 16, 0.5, 9);
  const at::Tensor x = tokens.x.to(at::kFloat);
  const RotatedCodes form{2, 256};
  const double without = error_of(rotated(form), x);
  EXPECT_LT(error_of(low_rank(form, others.of(16)), x), 1.02 * without);
}

at::Tensor mean_of_draws(const CodecPointer& codec, const at::Tensor& x, int64_t draws,
                         double& squares) {
  at::Tensor sum = at::zeros({x.numel()}, at::kDouble);
  squares = 0.0;
  for (int64_t draw = 0; draw < draws; ++draw) {
    const at::Tensor error =
        codec->encode(x, random_of(5, draw))->decoded().to(at::kDouble) - run_of(x);
    sum += error;
    squares += error.square().sum().item().toDouble();
  }
  return sum.div_(draws);
}

// Mean errors of many draws shrink as errors do that have no mean: coefficients of one bit, and
// directions of others.
TEST(LowRank, HasNoBias) {
  constexpr int64_t kDraws = 1024;
  const Tokens tokens(32, 64, 4, 0.8), others(32, 64, 4, 0.8, 5);
  const at::Tensor x = tokens.x.to(at::kFloat);
  for (const Directions& directions : {tokens.of(4, 1), tokens.of(2, 4), others.of(4, 2)}) {
    for (const int bits : {1, 2}) {
      double squares = 0.0;
      const at::Tensor mean = mean_of_draws(low_rank({bits, 256}, directions), x, kDraws, squares);
      // 1 of noise alone, 2,048 elements of it; rotation's own bias is .1 at one bit.
      EXPECT_NEAR(mean.square().sum().item().toDouble() * kDraws * kDraws / squares, 1.0, 0.3)
          << directions.bits << ' ' << bits;
    }
  }
}

TEST(LowRank, TakesFewTokensConstantsAndEveryMagnitude) {
  const Tokens tokens(64, 32, 4, 0.5);
  for (const int64_t count : {1, 2, 5, 64}) {
    const at::Tensor x = tokens.x.narrow(0, 0, count).to(at::kFloat);
    EXPECT_LT(error_of(low_rank({8, 64}, tokens.of(4)), x), 1e-3) << count;
  }
  const at::Tensor same = at::full({64, 32}, 3.25);
  EXPECT_LT(error_of(low_rank({4, 64}, tokens.of(4)), same), 1e-3);
  EXPECT_TRUE(
      at::equal(coded(low_rank({2, 64}, tokens.of(4)), at::zeros({64, 32})), at::zeros({64 * 32})));
  for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const double magnitude :
         {type == at::kHalf ? 1e-3 : 1e-30, type == at::kHalf ? 1e3 : 1e36}) {
      const at::Tensor x = (tokens.x * magnitude).to(type);
      const at::Tensor back = coded(low_rank({4, 64}, tokens.of(4)), x).to(at::kDouble);
      const double error =
          ((back / magnitude - run_of(tokens.x)).square().sum() / tokens.x.square().sum())
              .item()
              .toDouble();
      EXPECT_LT(error, 0.02) << type << ' ' << magnitude;
    }
  }
}

TEST(LowRank, MakesNanOfAGroupWithOneAndLeavesOthers) {
  const Tokens tokens(64, 64, 4, 0.8);
  const at::Tensor x = tokens.x.to(at::kFloat);
  const CodecPointer codec = low_rank({4, 256}, tokens.of(4));
  for (const double value : {NAN, INFINITY}) {
    at::Tensor odd = x.clone();
    run_of(odd)[300] = value;
    const at::Tensor back = coded(codec, odd);
    EXPECT_TRUE(back.narrow(0, 256, 256).isnan().all().item().toBool());
    EXPECT_EQ(back.isnan().sum().item().toLong(), 256);
    const at::Tensor rest = back.narrow(0, 512, 64 * 64 - 512);
    EXPECT_LT((rest - run_of(x).narrow(0, 512, 64 * 64 - 512)).abs().max().item().toDouble(), 2.0);
  }
}

// A thread takes units of whole blocks, or all threads take one pass after the other.
TEST(LowRank, IsTheSameForAnyNumberOfThreads) {
  at::manual_seed(3);
  const int threads = at::get_num_threads();
  for (const ops::ChannelPlace& place :
       {ops::ChannelPlace{384, 1}, {33, 1}, {24, 49}, {5, 36}, {64, 1024}, {1000, 3}}) {
    const int64_t count = 300'000 / place.block() * place.block();
    const at::Tensor x = at::randn({count});
    for (const int64_t k : {1, 3, 16}) {
      const Directions directions{ops::basis_of(0.1 * at::randn({k, place.channels})), place, 3};
      std::vector<at::Tensor> first;
      for (const int many : {1, 2, 5, 200}) {
        at::set_num_threads(many);
        const auto encoded = low_rank({2, 64}, directions)->encode(x, random_of(1));
        std::vector<at::Tensor> made = encoded->tensors().vec();
        made.push_back(encoded->decoded());
        made.push_back(encoded->decoded(count / 3 + 1, count - 5));
        if (first.empty()) first = made;
        for (size_t i = 0; i < made.size(); ++i) {
          const at::Tensor a = made[i].contiguous().view(at::kByte);
          EXPECT_TRUE(at::equal(a, first[i].contiguous().view(at::kByte)))
              << many << ' ' << place.channels << ' ' << k << ' ' << i;
        }
        EXPECT_TRUE(at::equal(made.back(), made[made.size() - 2].slice(0, count / 3 + 1, -5)));
      }
    }
  }
  at::set_num_threads(threads);
}

TEST(LowRank, KeepsItsBitsConstantsCoefficientsAndBasis) {
  const Tokens tokens(256, 40, 8, 0.5);
  const at::Tensor x = tokens.x.to(at::kFloat);
  for (int bits = 1; bits <= 8; ++bits) {
    const Directions directions = tokens.of(8, bits);
    const CodecPointer codec = low_rank({2, 256}, directions);
    const auto encoded = codec->encode(x, random_of(1));
    const int64_t besides = 256 * 8 * bits / 8 + 8 * 4 + 8 * 48;
    EXPECT_EQ(bytes_of(*encoded), 10240 * 2 / 8 + 40 * 4 + 8 + besides);
    EXPECT_EQ(bytes_ahead(*codec, x), bytes_of(*encoded));
    EXPECT_EQ(bits_of_directions(directions, 10240) * 10240 / 8, static_cast<double>(besides));
  }
}

TEST(LowRank, RefusesWhatItIsNotOf) {
  const Tokens tokens(16, 32, 4, 0.5);
  EXPECT_EQ(text_of(*low_rank({2, 256}, {})), "low rank, 2 bits");
  EXPECT_FALSE(low_rank({2, 256}, {})->takes(at::ones({16, 32})));
  const CodecPointer codec = low_rank({2, 256}, tokens.of(4));
  EXPECT_EQ(text_of(*codec), "low rank of 4, 2 bits");
  EXPECT_TRUE(codec->takes(at::ones({16, 32})));
  EXPECT_FALSE(codec->takes(at::ones({16, 33})));
  EXPECT_FALSE(codec->takes(at::ones({16, 32}, at::kDouble)));
  EXPECT_EQ(test::refusal([&] {
              low_rank({2, 256}, {tokens.of(4).basis, {33, 1}, 4});
            }),
            "fewbit::codecs::low_rank: directions of 32 channels, accepted: as many as the "
            "elements have, 33, rounded up to a multiple of 16");
}

}  // namespace fewbit::codecs::low_rank_test
