// Signs that relu needs of what a norm gives, read from the codes of the norm's input.
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/compression_model.hpp"
#include "tests/support/stored_as.hpp"

namespace fewbit::blpa_sign_test {

using test::IsCoded;
using test::IsRecomputed;
using torch::autograd::grad;

constexpr int64_t kChannels = 24;

/// Whatever training may come to: outputs far from 0 on either side, weights of both signs and 0,
/// means that are large beside deviations.
struct Norm {
  at::Tensor weight = at::randn({kChannels}) * 2.0;
  at::Tensor bias = at::empty({kChannels}).uniform_(-5.0, 5.0);
  at::Tensor x;

  Norm(at::ScalarType type, double mean) {
    weight[3] = 0.0;
    bias[4] = 0.0;
    x = ((at::randn({6, kChannels, 9, 11}) + mean) * at::rand({kChannels, 1, 1}).exp()).to(type);
    if (type == at::kDouble) {
      weight = weight.to(type);
      bias = bias.to(type);
    }
    for (at::Tensor* tensor : {&weight, &bias, &x}) tensor->requires_grad_();
  }

  at::Tensor output() const {
    return at::batch_norm(x * 1.0, weight, bias, {}, {}, true, 0.1, 1e-5, false);
  }
};

std::vector<StoredAs> activations_of(const Compressor& compressor) {
  std::vector<StoredAs> activations;
  for (const Compressor::Site& site : compressor.sites()) {
    if (site.operation == "fewbit::activation") activations.push_back(site.stored);
  }
  return activations;
}

/// Of each element whether the relu behind y passes its gradient on.
at::Tensor passes(const at::Tensor& y, const at::Tensor& z) {
  return grad({z}, {y}, {at::ones_like(z)})[0].ne(0.0);
}

// But for outputs that are 0 up to the rounding of x and of what is computed of it.
TEST(BlpaSign, IsThatOfTheNormsOutput) {
  at::manual_seed(71);
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kBFloat16}) {
    const double epsilon = type == at::kBFloat16 ? 0x1p-8 : 0x1p-23;
    for (const double mean : {0.0, -3.0, 20.0}) {
      for (const double bits : {2.0, 4.0, 8.0}) {
        const Norm norm(type, mean);
        Compressor compressor({.bits = bits, .scheme = Scheme::blpa});
        at::Tensor y, z;
        {
          const CompressionScope scope(compressor);
          y = norm.output();
          z = at::relu(y);
        }
        ASSERT_THAT(activations_of(compressor).at(0), IsRecomputed("sign of norm"))
            << compressor.report();
        const at::Tensor deviation = norm.x.detach().to(at::kDouble).std({0, 2, 3}, false, true);
        const at::Tensor largest = norm.x.detach().to(at::kDouble).abs().amax({0, 2, 3}, true);
        const at::Tensor size = norm.weight.detach().abs().view({-1, 1, 1}) * largest / deviation +
                                norm.bias.detach().abs().view({-1, 1, 1});
        const at::Tensor is_near = y.detach().to(at::kDouble).abs().le(size * (4.0 * epsilon));
        const at::Tensor differs = passes(y, z).ne(y.detach().gt(0.0));
        EXPECT_FALSE(differs.logical_and(is_near.logical_not()).any().item<bool>())
            << type << ", mean " << mean << ", " << bits << " bits";
        EXPECT_LT(differs.to(at::kDouble).mean().item<double>(),
                  type == at::kBFloat16 ? 0.01 : 1e-4);
      }
    }
  }
}

// The second norm's outputs have other signs than the codes of the first one's input keep.
TEST(BlpaSign, IsKeptWhereAnotherNormsCodesServe) {
  at::manual_seed(72);
  const Norm norm(at::kFloat, 0.0);
  const at::Tensor other = at::randn({kChannels}).requires_grad_();
  Compressor compressor({.bits = 2, .scheme = Scheme::blpa});
  at::Tensor first, second, z;
  {
    const CompressionScope scope(compressor);
    const at::Tensor x = norm.x * 1.0;
    first = at::batch_norm(x, norm.weight, norm.bias, {}, {}, true, 0.1, 1e-5, false);
    second = at::batch_norm(x, norm.weight, other, {}, {}, true, 0.1, 1e-5, false);
    z = at::relu(second) + at::relu(first);
  }
  // Compilers call the terms of a sum in either order.
  EXPECT_THAT(
      activations_of(compressor),
      testing::UnorderedElementsAre(IsCoded("few-bit table", 1), IsRecomputed("sign of norm")));
  EXPECT_TRUE(at::equal(passes(second, z), second.gt(0.0)));
}

// An input of a convolution, too, was coded as such before.
TEST(BlpaSign, IsKeptWhereCodesAreNoNorms) {
  at::manual_seed(73);
  const Norm norm(at::kFloat, 0.0);
  const at::Tensor weight = at::randn({4, kChannels, 1, 1}).requires_grad_();
  Compressor compressor({.bits = 2, .scheme = Scheme::blpa});
  at::Tensor y, z;
  {
    const CompressionScope scope(compressor);
    const at::Tensor x = norm.x * 1.0;
    z = at::conv2d(x, weight).sum();
    y = at::batch_norm(x, norm.weight, norm.bias, {}, {}, true, 0.1, 1e-5, false);
    z = z + at::relu(y);
  }
  EXPECT_THAT(activations_of(compressor), testing::ElementsAre(IsCoded("few-bit table", 1)));
  EXPECT_TRUE(at::equal(passes(y, z), y.gt(0.0)));
}

// Codes of the other schemes keep no signs, whoever asks.
TEST(BlpaSign, IsReadFromNoOtherCodes) {
  at::manual_seed(74);
  const Norm norm(at::kFloat, 0.0);
  for (const Scheme scheme : {Scheme::rotated, Scheme::group}) {
    Compressor compressor({.bits = 2, .scheme = scheme});
    compressor.recompute("norm", Recompute::always).recompute("sign", Recompute::always);
    at::Tensor y, z;
    {
      const CompressionScope scope(compressor);
      y = norm.output();
      z = at::relu(y);
    }
    EXPECT_TRUE(at::equal(passes(y, z), y.gt(0.0)));
  }
}

// What relu keeps leaves where it is not read from codes.
TEST(BlpaSign, GradientsAreTheSameWithSwap) {
  for (const Recompute sign : {Recompute::always, Recompute::never}) {
    at::Tensor expected;
    for (const bool offload : {false, true}) {
      at::manual_seed(75);
      const Norm norm(at::kFloat, 0.0);
      const at::Tensor weight = at::randn({4, kChannels, 3, 3}).requires_grad_();
      Compressor compressor({.bits = 4, .scheme = Scheme::blpa, .offload = offload});
      compressor.recompute("sign", sign);
      at::Tensor z;
      {
        const CompressionScope scope(compressor);
        z = at::conv2d(at::relu(norm.output()), weight).square().sum();
      }
      const at::Tensor gradient = test::flat(grad({z}, {norm.x, norm.weight, norm.bias, weight}));
      if (expected.defined()) {
        EXPECT_TRUE(at::equal(gradient, expected)) << compressor.report();
      }
      expected = gradient;
    }
  }
}

}  // namespace fewbit::blpa_sign_test
