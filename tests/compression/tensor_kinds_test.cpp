// Saved tensors of every type, layout and purpose.
#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "fewbit/saved_bytes.hpp"
#include "tests/support/compression_model.hpp"

namespace fewbit::compression_kinds_test {

using namespace test;
using torch::autograd::grad;

/// dw of w * x.f(...), whose saved tensor has the layout of `make(x)`: near the exact one.
template <class Make>
void expect_layout(const Make& make) {
  const at::Tensor x = at::randn({4, 16, 8, 8}).requires_grad_();
  const at::Tensor shown = make(x * 1.0);
  const at::Tensor weight = at::randn(shown.sizes()).requires_grad_();
  const at::Tensor dy = at::randn(shown.sizes());
  Compressor compressor({.bits = 8});
  at::Tensor y;
  {
    const CompressionScope scope(compressor);
    y = make(x * 1.0) * weight;
  }
  const at::Tensor dw = grad({y}, {weight}, {dy})[0];
  EXPECT_LT(distance(dw, make(x.detach()) * dy), 0.01);
}

TEST(CompressionKinds, TakesAnyLayout) {
  expect_layout([](const at::Tensor& x) { return x; });
  expect_layout([](const at::Tensor& x) { return x.transpose(1, 3); });
  expect_layout([](const at::Tensor& x) { return x.contiguous(at::MemoryFormat::ChannelsLast); });
  expect_layout([](const at::Tensor& x) { return x.slice(1, 1, 15, 2); });
  expect_layout([](const at::Tensor& x) { return x.chunk(2, 2)[1]; });
  expect_layout([](const at::Tensor& x) { return x.unsqueeze(1).expand({-1, 5, -1, -1, -1}); });
  expect_layout([](const at::Tensor& x) { return x.permute({3, 0, 2, 1}).slice(0, 2); });
  expect_layout([](const at::Tensor& x) { return x.reshape({-1}); });
}

TEST(CompressionKinds, TakesEveryTypeAndAnyMagnitude) {
  for (const auto type : {at::kFloat, at::kDouble, at::kBFloat16, at::kHalf}) {
    for (const double scale : {1e-4, 1.0, 1e3}) {
      const at::Tensor x = (at::randn({64, kWidth}) * scale).to(type).requires_grad_();
      const at::Tensor weight = at::randn({64, kWidth}).to(type).requires_grad_();
      Compressor compressor({.bits = 8});
      at::Tensor y;
      {
        const CompressionScope scope(compressor);
        y = (x * 1.0) * weight;
      }
      const at::Tensor dw = grad({y}, {weight}, {at::ones_like(y)})[0];
      EXPECT_EQ(dw.scalar_type(), type);
      EXPECT_LT(distance(dw.to(at::kDouble), x.detach().to(at::kDouble)), 0.02);
      EXPECT_EQ(compressor.sites().size(), 1U);
    }
  }
}

/// The gradient of x through f, outside of a scope and inside; the compressor's sites.
template <class F>
std::vector<Compressor::Site> expect_exact_gradient(const F& f, at::IntArrayRef shape) {
  const at::Tensor x = at::randn(shape).requires_grad_();
  at::manual_seed(8);
  const at::Tensor y = f(x * 1.0);
  const at::Tensor dy = at::randn_like(y);
  const at::Tensor exact = grad({y}, {x}, {dy})[0];
  Compressor compressor({.bits = 1});
  at::Tensor coded;
  at::manual_seed(8);
  {
    const CompressionScope scope(compressor);
    coded = f(x * 1.0);
  }
  EXPECT_TRUE(at::equal(grad({coded}, {x}, {dy})[0], exact)) << compressor.report();
  return compressor.sites();
}

// Places in a window, masks, sizes: exact, and the sizes' tensors are not read.
TEST(CompressionKinds, WhatIsNoNumberIsKeptExactly) {
  const std::vector<int64_t> images = {2, 8, 16, 16};
  auto sites =
      expect_exact_gradient([](const at::Tensor& x) { return at::max_pool2d(x, 2); }, images);
  ASSERT_EQ(sites.size(), 2U);
  EXPECT_EQ(sites[0].stored.text(), "sizes only");
  EXPECT_EQ(sites[0].bytes_after, 0);
  EXPECT_EQ(sites[1].stored.text(), "integers");
  EXPECT_EQ(sites[1].bytes_after, 256);  // places in a window of 4: 2 bits
  sites = expect_exact_gradient(
      [](const at::Tensor& x) {
        return at::avg_pool2d(x, {3, 3}, {2, 2}, {1, 1});
      },
      images);
  EXPECT_EQ(sites.at(0).bytes_after, 0);
  sites = expect_exact_gradient(
      [](const at::Tensor& x) {
        return at::adaptive_avg_pool2d(x, {5, 3});
      },
      images);
  EXPECT_EQ(sites.at(0).bytes_after, 0);
  expect_exact_gradient(
      [](const at::Tensor& x) {
        return std::get<0>(at::adaptive_max_pool2d(x, {5, 3}));
      },
      images);
  sites =
      expect_exact_gradient([](const at::Tensor& x) { return at::dropout(x, 0.3, true); }, images);
  ASSERT_EQ(sites.size(), 1U);
  EXPECT_EQ(sites[0].stored.text(), "mask, 1 bit");
  EXPECT_EQ(sites[0].bytes_after, 4096 / 8 + 4);
  sites = expect_exact_gradient(
      [](const at::Tensor& x) {
        at::Tensor y = x.clone();
        return at::dropout_(y, 0.3, true);
      },
      images);
  ASSERT_EQ(sites.size(), 1U);
  EXPECT_EQ(sites[0].stored.text(), "mask, 1 bit");
  expect_exact_gradient([](const at::Tensor& x) { return at::relu(x); }, images);
  const at::Tensor targets = at::randint(8, {2, 16, 16}, at::kLong);
  sites = expect_exact_gradient([&](const at::Tensor& x) { return at::nll_loss2d(x, targets); },
                                images);
  EXPECT_EQ(sites.at(0).bytes_after, 0);
  sites = expect_exact_gradient(
      [&](const at::Tensor& x) { return at::nll_loss(x, at::randint(8, {512}, at::kLong)); },
      {512, 8});
  EXPECT_EQ(sites.at(0).bytes_after, 0);
  expect_exact_gradient([](const at::Tensor& x) { return at::feature_dropout(x, 0.3, true); },
                        images);
}

// The results are held: nobody knows what will divide by them.
TEST(CompressionKinds, PowersWhoseResultsAreHeldAreExact) {
  const at::Tensor dy = at::randn({64, kWidth});
  for (const double exponent : {2.0, 3.0, 0.5}) {
    const at::Tensor x = (at::rand({64, kWidth}) + 0.5).requires_grad_();
    Compressor compressor({.bits = 8});
    at::Tensor y;
    {
      const CompressionScope scope(compressor);
      y = at::pow(x * 1.0, exponent);
    }
    const at::Tensor exact = dy * exponent * at::pow(x.detach(), exponent - 1.0);
    EXPECT_LT(distance(grad({y}, {x}, {dy})[0], exact), 1e-6);
    EXPECT_EQ(compressor.sites().size(), exponent == 0.5 ? 0U : 1U) << compressor.report();
  }
}

// A norm by the root of the mean square keeps its input once.
TEST(CompressionKinds, RootMeanSquareNormsAreCoded) {
  const at::Tensor x = at::randn({64, kWidth}).requires_grad_();
  const at::Tensor weight = at::rand({kWidth}).requires_grad_();
  const auto norm = [&] { return at::rms_norm(x * 1.0, {kWidth}, weight); };
  const at::Tensor dy = at::randn({64, kWidth});
  const at::Tensor exact = grad({norm()}, {x}, {dy})[0];
  Compressor compressor({.bits = 8});
  at::Tensor y;
  SavedBytes meter;
  {
    const auto watch = meter.watch();
    const CompressionScope scope(compressor);
    y = norm();
  }
  EXPECT_LT(distance(grad({y}, {x}, {dy})[0], exact), 0.02);
  EXPECT_LT(meter.unique_bytes(), 2 * 64 * kWidth + 64 * 8 + 300) << compressor.report();
}

// Many elements, of which memory holds one.
TEST(CompressionKinds, WhatIsExpandedCountsOnce) {
  Compressor compressor({.bits = 2});
  const at::Tensor x = at::randn({64, 64}).requires_grad_();
  const at::Tensor weight = at::randn({64, 64}).requires_grad_();
  at::Tensor y;
  {
    const CompressionScope scope(compressor);
    y = (x * 1.0).mean().expand({64, 64}) * weight;
  }
  EXPECT_TRUE(at::allclose(grad({y.sum()}, {weight})[0], x.mean().expand({64, 64})));
  EXPECT_TRUE(std::ranges::none_of(compressor.sites(), [](const auto& site) {
    return site.operation == "aten::mul" && site.argument == 0 && site.elements == 1;
  }));
}

TEST(CompressionKinds, NonFiniteNumbersComeBackNonFinite) {
  Compressor compressor({.bits = 2});
  at::Tensor x = at::randn({64, kWidth});
  x[3][5] = std::numeric_limits<float>::infinity();
  x = x.requires_grad_();
  const at::Tensor weight = at::randn({64, kWidth}).requires_grad_();
  at::Tensor y;
  {
    const CompressionScope scope(compressor);
    y = (x * 1.0) * weight;
  }
  const at::Tensor dw = grad({y}, {weight}, {at::ones_like(y)})[0];
  EXPECT_FALSE(std::isfinite(dw[3][5].item<float>()));
  EXPECT_EQ(at::isfinite(dw).sum().item<int64_t>(), dw.numel() - 256);  // its group
}

}  // namespace fewbit::compression_kinds_test
