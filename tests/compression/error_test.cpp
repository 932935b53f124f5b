// What coding does to a run, against sums that are written out.
#include "compression/allocation/error.hpp"

#include <cmath>

#include <ATen/ATen.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand_like.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

namespace fewbit::compression_error_test {

using session::error_of;

/// In long double, one element after the other.
double slow_error(const at::Tensor& run, const at::Tensor& decoded, bool is_norm) {
  const at::Tensor exact = run.as_strided({run.numel()}, {1}).to(at::kDouble);
  const at::Tensor again = decoded.to(at::kDouble);
  const auto* x = exact.const_data_ptr<double>();
  const auto* y = again.const_data_ptr<double>();
  long double mean = 0.0L, rest = 0.0L, energy = 0.0L;
  for (int64_t i = 0; is_norm && i < run.numel(); ++i) mean += x[i];
  mean /= static_cast<long double>(run.numel());
  for (int64_t i = 0; i < run.numel(); ++i) {
    const long double off = static_cast<long double>(y[i]) - x[i];
    rest += off * off;
    energy += (x[i] - mean) * (x[i] - mean);
  }
  return static_cast<double>(rest / energy);
}

void expect_the_slow(const at::Tensor& run) {
  const at::Tensor flat = run.as_strided({run.numel()}, {1});
  const at::Tensor decoded = flat.mul(at::rand_like(flat));
  for (const bool is_norm : {false, true}) {
    const double expected = slow_error(run, decoded, is_norm);
    EXPECT_NEAR(error_of(run, decoded, is_norm), expected, 1e-10 * expected)
        << run.sizes() << ", " << run.scalar_type() << ", norm " << is_norm;
  }
}

TEST(CompressionError, IsThatOfAllElementsOfEveryTypeAndCount) {
  for (const auto type : {at::kFloat, at::kDouble, at::kBFloat16, at::kHalf}) {
    for (const int64_t count : {1025, 16383, 16384, 16385, 70001}) {
      expect_the_slow(at::randn({count}).to(type));
    }
  }
}

TEST(CompressionError, IsTakenInTheOrderOfMemory) {
  expect_the_slow(at::randn({300, 70}).t());
  expect_the_slow(at::randn({2, 9, 40, 50}).contiguous(at::MemoryFormat::ChannelsLast));
}

TEST(CompressionError, DoesNotOverflowAndKeepsSmallNumbers) {
  expect_the_slow(at::randn({40000}) * 1e30);
  expect_the_slow(at::randn({40000}) * 1e-30);
}

TEST(CompressionError, OfANormDoesNotSeeALargeMean) {
  expect_the_slow(at::randn({40000}, at::kDouble) + 1e4);
}

// One group has all of the energy and none of the error, the others twice their energy.
TEST(CompressionError, OfTheMedianGroupIsWhatMostHave) {
  const at::Tensor x = at::ones({70000});
  x.narrow(0, 512, 256).fill_(1e6);
  at::Tensor decoded = x + std::sqrt(2.0);
  decoded.narrow(0, 512, 256).fill_(1e6);
  EXPECT_LT(error_of(x, decoded, false), 1e-8);
  EXPECT_NEAR(session::median_error_of(x, decoded, false), 2.0, 1e-6);
  EXPECT_EQ(session::median_error_of(at::zeros({3000}), at::ones({3000}), false), 0.0);
  const at::Tensor run = at::randn({20000}, at::kDouble) + 1e3;
  EXPECT_NEAR(session::median_error_of(run, run + 0.1, true), 0.01, 0.001);
  EXPECT_LT(session::median_error_of(run, run + 0.1, false), 1.1e-8);
}

TEST(CompressionError, IsNoneWhereThereIsNoEnergy) {
  const at::Tensor x = at::full({2000}, 3.0);
  EXPECT_EQ(error_of(x, x.mul(2), true), 0.0);
  EXPECT_EQ(error_of(x.mul(0), x, false), 0.0);
  const at::Tensor none = at::zeros({0});
  EXPECT_EQ(error_of(none, none, true), 0.0);
  EXPECT_EQ(session::median_error_of(none, none, true), 0.0);
}

TEST(CompressionError, OfProbabilitiesCountsByTheEnergyOfTheirGradient) {
  at::manual_seed(12);
  for (const int64_t classes : {2, 10, 1000}) {
    for (const double confidence : {0.0, 1.0, 8.0}) {
      at::Tensor p = at::softmax(at::randn({400, classes}) * confidence, 1);
      const double gradient = (1 - p.square().sum(1)).sum().item<double>();
      p.scatter_(1, p.argmax(1, /*keepdim=*/true), 0.0);
      const double share = p.square().sum().item<double>() / gradient;
      const double told = session::energy_share_of(p);
      EXPECT_LE(share, told * 1.001) << classes << ", " << confidence;
      EXPECT_GE(share, told / 2.5) << classes << ", " << confidence;
    }
  }
  EXPECT_EQ(session::energy_share_of(at::zeros({20})), 0.0);
}

}  // namespace fewbit::compression_error_test
