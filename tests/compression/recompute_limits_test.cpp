// Where tensors are not computed again, and how far that goes.
#include <algorithm>
#include <map>
#include <utility>

#include <gtest/gtest.h>

#include "tests/compression/recompute_network.hpp"
#include "tests/support/stored_as.hpp"

namespace fewbit::recompute_limits_test {

using namespace test;
using torch::autograd::grad;

// Frozen, it keeps nothing itself; nobody but its name says that the model holds it.
TEST(RecomputeLimits, FrozenLayersAreKnownByName) {
  at::manual_seed(46);
  const at::Tensor x = at::randn({64, 48}).requires_grad_();
  const at::Tensor frozen = at::randn({48, 32}), weight = at::randn({64, 32}).requires_grad_();
  const at::Tensor other = at::randn({64, 48}).requires_grad_();
  const Network network{x, {weight, other, x}, [&](const at::Tensor& h) {
                          const at::Tensor sum = (h * other).sum();
                          return sum + at::mm(h, frozen) * weight;
                        }};
  for (const bool is_named : {false, true}) {
    Compressor compressor({.bits = 8});
    torch::OrderedDict<std::string, at::Tensor> names;
    names.insert("frozen", frozen);
    if (is_named) compressor.name(names);
    EXPECT_LT(derived_distance(network, compressor), 0.02);
    const StoredAs product = stored(compressor).at(1);
    if (is_named) {
      EXPECT_THAT(product, IsRecomputed("linear"));
    } else {
      EXPECT_THAT(product, IsCoded("rotated", 8));
    }
  }
}

// What a recompute held of noise that nobody else keeps would be more than the codes.
TEST(RecomputeLimits, HoldsNoTensorsThatAreNotTheModels) {
  at::manual_seed(47);
  const at::Tensor x = at::randn({64, 48}).requires_grad_();
  const at::Tensor weight = at::randn({48, 32}).requires_grad_();
  const at::Tensor places =
      at::randn({64, 48}).requires_grad_();  // as large as what it is added to
  const Network noise{x, {weight, x}, [&](const at::Tensor& h) {
                        return at::mm(h, weight) + at::mm(h + at::ones_like(h), weight);
                      }};
  const Network added{x, {weight, x, places}, [&](const at::Tensor& h) {
                        return at::mm(h, weight) + at::mm(h + places, weight);
                      }};
  for (const Network& network : {noise, added}) {
    Compressor compressor({.bits = 8});
    EXPECT_LT(derived_distance(network, compressor), 0.02);
    EXPECT_THAT(stored(compressor), testing::Each(IsCoded("rotated", 8)));
  }
}

// A bias is no business of autograd's, so it may change; parts of copies; other types in place.
TEST(RecomputeLimits, GivesBackTypesPartsAndBiasesAsTheyWere) {
  at::manual_seed(48);
  const at::Tensor x = at::randn({96, 48}).requires_grad_();
  const at::Tensor weight = at::randn({48, 32}).requires_grad_();
  const Network parts{x, {weight, x}, [&](const at::Tensor& h) {
                        const at::Tensor sum = at::mm(h, weight).sum();
                        return sum + at::mm(h.slice(0, 32, 96).clone(), weight);
                      }};
  Compressor first({.bits = 8});
  EXPECT_LT(derived_distance(parts, first), 0.02);
  EXPECT_THAT(stored(first).at(1), IsRecomputed("copy"));

  const at::Tensor low = at::randn({96, 48}).to(at::kBFloat16).requires_grad_();
  const at::Tensor factor = at::randn({48, 32}).to(at::kBFloat16).requires_grad_();
  const at::Tensor bias = at::randn({48}).requires_grad_();
  const Network mixed{low, {factor}, [&](const at::Tensor& h) {
                        const at::Tensor sum = at::mm(h, factor).sum();
                        at::Tensor t = h * 3.0;
                        t += bias;
                        return sum + at::mm(t, factor);
                      }};
  Compressor second({.bits = 8});
  EXPECT_LT(derived_distance(mixed, second), 0.02);
  EXPECT_THAT(stored(second).at(1), IsRecomputed("copy"));

  Compressor third({.bits = 8});
  derive_all(third, Recompute::always);
  const at::Tensor shift = at::randn({48}).requires_grad_();
  at::Tensor y, expected;
  {
    const CompressionScope scope(third);
    const at::Tensor h = x * 1.0;
    const at::Tensor sum = at::mm(h, weight).sum();
    const at::Tensor moved = h + shift;
    expected = moved.detach().clone();
    y = sum * 0.0 + at::mm(moved, weight).sum();
  }
  {
    const at::NoGradGuard no_grad;
    shift.add_(5.0);
  }
  const at::Tensor dw = grad({y}, {weight})[0];
  EXPECT_LT(distance(dw, at::mm(expected.t(), at::ones({96, 32}))), 0.02);
}

// Eight steps of a chain, then codes again: no tensor costs more than these.
TEST(RecomputeLimits, ChainsEnd) {
  at::manual_seed(49);
  const at::Tensor x = at::randn({64, 32}).requires_grad_();
  const at::Tensor weight = (at::randn({32, 32}) * 0.2).requires_grad_();
  const Network network{x, {weight, x}, [&](const at::Tensor& h) {
                          at::Tensor y = h;
                          for (int i = 0; i < 12; ++i) y = at::leaky_relu(at::mm(y, weight), 0.3);
                          return y;
                        }};
  Compressor compressor({.bits = 8, .activation_bits = 8});
  EXPECT_LT(derived_distance(network, compressor), 0.05);
  const std::vector<StoredAs> kept = stored(compressor);
  const auto is_coded = [](const StoredAs& one) {
    return one.codec.starts_with("rotated") || one.codec.starts_with("low rank");
  };
  EXPECT_EQ(std::ranges::count_if(kept, is_coded), 4) << compressor.report();
}

TEST(RecomputeLimits, RulesCountForWhateverIsRecomputedAlready) {
  at::manual_seed(50);
  const at::Tensor x = at::randn({64, 32}).requires_grad_();
  const at::Tensor weight = at::randn({32, 32}).requires_grad_();
  const Network network{x, {weight, x}, [&](const at::Tensor& h) {
                          const at::Tensor y = at::layer_norm(h, {32});
                          const at::Tensor sum = at::mm(y, weight).sum();
                          return sum + y * h;
                        }};
  Compressor compressor({.bits = 2});
  compressor.rule("aten::mul", Bits{8});
  derived_distance(network, compressor);
  std::map<std::string, StoredAs> kept;
  for (const Compressor::Site& site : compressor.sites()) kept[site.operation] = site.stored;
  EXPECT_THAT(kept["aten::mm"], IsRecomputed("norm")) << compressor.report();
  EXPECT_THAT(kept["aten::mul"], IsCoded("rotated", 8)) << compressor.report();
}

// Statistics in bfloat16 are off whatever the bits of the input.
TEST(RecomputeLimits, IsLeftOutWhereMoreBitsAreNoHelp) {
  at::manual_seed(51);
  const at::Tensor x = (at::randn({128, 64}) + 30.0).to(at::kBFloat16).requires_grad_();
  const at::Tensor weight = at::randn({64, 64}).to(at::kBFloat16).requires_grad_();
  const Network network{
      x, {weight}, [&](const at::Tensor& h) {
        return at::mm(at::group_norm(h.view({128, 64, 1}), 4).view({128, 64}), weight);
      }};
  const at::Tensor exact = network.gradients(nullptr).to(at::kFloat);
  Compressor compressor({.bits = 8}), plain({.bits = 8});
  derive_all(plain, Recompute::never);
  for (int step = 0; step < 4; ++step) {
    network.gradients(&compressor);
    network.gradients(&plain);
  }
  EXPECT_LT(distance(network.gradients(&compressor).to(at::kFloat), exact),
            1.5 * distance(network.gradients(&plain).to(at::kFloat), exact) + 0.01)
      << compressor.report();
}

}  // namespace fewbit::recompute_limits_test
