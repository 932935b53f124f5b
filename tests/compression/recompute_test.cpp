// Tensors that are computed again out of what another one's codes hold.
#include <functional>
#include <thread>

#include <gtest/gtest.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>

#include "fewbit/saved_bytes.hpp"
#include "tests/compression/recompute_network.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/stored_as.hpp"

namespace fewbit::compression_recompute_test {

using namespace test;
using torch::autograd::grad;

/// h that an operation makes of x, kept by a product with a weight: once with 8 bits of x, h
/// recomputed.
void expect_derived(const std::string& how, at::Tensor x,
                    const std::function<at::Tensor(const at::Tensor&)>& make,
                    std::vector<at::Tensor> parameters = {}) {
  SCOPED_TRACE(how);
  x = x.requires_grad_();
  const at::Tensor weight = at::randn(make(x).sizes()).requires_grad_();
  parameters.push_back(weight);
  const at::Tensor other = at::randn(x.sizes()).requires_grad_();
  parameters.push_back(other);
  // x is kept for `other`, so that it has codes whatever makes h.
  const Network network{x, parameters, [&](const at::Tensor& h) {
                          const at::Tensor sum = (h * other).sum();
                          return sum + make(h) * weight;
                        }};
  const at::Tensor exact = network.gradients(nullptr);
  Compressor compressor({.bits = 8, .activation_bits = 8});
  derive_all(compressor, Recompute::always);
  EXPECT_LT(distance(network.gradients(&compressor), exact), 0.02);
  const std::vector<StoredAs> kept = stored(compressor);
  ASSERT_FALSE(kept.empty());
  EXPECT_THAT(kept.back(), IsRecomputed(how)) << compressor.report();
}

TEST(Recomputation, TakesWhatEveryNormMakes) {
  at::manual_seed(31);
  const at::Tensor rows = at::randn({64, 48}) * 3.0 + 0.5;
  const at::Tensor gamma = parameter({48}), beta = parameter({48});
  for (const auto& [weight, bias] :
       {std::pair(gamma, beta), {gamma, at::Tensor()}, {at::Tensor(), at::Tensor()}}) {
    std::vector<at::Tensor> parameters;
    for (const at::Tensor& one : {weight, bias}) {
      if (one.defined()) parameters.push_back(one);
    }
    expect_derived(
        "norm", rows,
        [&, w = weight, b = bias](const at::Tensor& x) { return at::layer_norm(x, {48}, w, b); },
        parameters);
  }
  const at::Tensor images = at::randn({4, 12, 8, 8}) * 2.0 + 1.0;
  const at::Tensor scale = parameter({12}), shift = parameter({12});
  for (const auto format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
    expect_derived("norm", images.contiguous(format),
                   [&](const at::Tensor& x) {
                     return at::batch_norm(x, scale, shift, {}, {}, /*training=*/true, 0.1, 1e-5,
                                           false);
                   },
                   {scale, shift});
  }
  expect_derived("norm", images,
                 [&](const at::Tensor& x) { return at::group_norm(x, 3, scale, shift); },
                 {scale, shift});
}

TEST(Recomputation, TakesCopiesAndMultiples) {
  at::manual_seed(32);
  const at::Tensor x = at::randn({64, 48});
  expect_derived("copy", x, [](const at::Tensor& h) { return h.t().contiguous(); });
  expect_derived("copy", x, [](const at::Tensor& h) { return h * -0.125; });
  expect_derived("copy", x.slice(1, 0, 40), [](const at::Tensor& h) { return h / 3.0; });
  expect_derived("copy", x, [](const at::Tensor& h) { return (h * 2.0).t().clone(); });
}

TEST(Recomputation, TakesWhatActivationsMake) {
  at::manual_seed(33);
  const at::Tensor x = at::randn({64, 48});
  expect_derived("relu", x, [](const at::Tensor& h) { return at::relu(h); });
  expect_derived("relu", x, [](const at::Tensor& h) { return at::leaky_relu(h, 0.2); });
  expect_derived("activation", x, [](const at::Tensor& h) { return at::gelu(h); });
  expect_derived("activation", x, [](const at::Tensor& h) { return at::elu(h, 0.7); });
}

TEST(Recomputation, TakesWhatDropoutLeaves) {
  at::manual_seed(38);
  const at::Tensor x = at::randn({64, 48});
  const auto drop = [](const at::Tensor& h) {
    at::manual_seed(39);
    return at::dropout(h, 0.25, true);
  };
  const auto drop_at_once = [](const at::Tensor& h) {
    at::manual_seed(39);
    return std::get<0>(at::native_dropout(h, 0.25, true));
  };
  expect_derived("dropout", x, drop);
  expect_derived("dropout", x, drop_at_once);
  expect_derived("dropout of relu", x, [&](const at::Tensor& h) { return drop(at::relu(h)); });
  const at::Tensor weight = at::randn({32, 48}).requires_grad_();
  expect_derived("dropout of activation of linear of norm", x, [&](const at::Tensor& h) {
    return drop(at::gelu(at::linear(at::layer_norm(h, {48}), weight)));
  });
}

// Zeros are where they were, and nothing else is one.
TEST(Recomputation, DropsTheSameAgain) {
  at::manual_seed(40);
  const at::Tensor x = at::randn({64, 48}).requires_grad_();
  const at::Tensor weight = at::randn({64, 48}).requires_grad_();
  const at::Tensor other = at::randn({64, 48}).requires_grad_();
  at::Tensor dropped, y;
  Compressor compressor;
  compressor.recompute("dropout", Recompute::always);
  {
    const CompressionScope scope(compressor);
    const at::Tensor h = x * 1.0;
    y = (h * other).sum();
    dropped = at::dropout(h, 0.4, true);
    y = y + (dropped * weight).sum();
  }
  const at::Tensor again = grad({y}, {weight})[0];
  EXPECT_THAT(stored(compressor).back(), IsRecomputed("dropout")) << compressor.report();
  EXPECT_TRUE(at::equal(again.eq(0.0), dropped.eq(0.0)));
}

// Probabilities wait until it is known who takes them: what they err is known by then alone.
TEST(Recomputation, HasTheErrorOfItsRootThatIsCodedLater) {
  at::manual_seed(41);
  const at::Tensor scores = at::randn({4, 64, 64}).requires_grad_();
  const at::Tensor values = at::randn({4, 64, 16}).requires_grad_();
  Compressor compressor({.bits = 2});
  for (int step = 0; step < 3; ++step) {
    const CompressionScope scope(compressor);
    at::bmm(at::dropout(at::softmax(scores, -1), 0.1, true), values);
  }
  double root = 0.0, recomputed = 0.0;
  for (const Compressor::Site& site : compressor.sites()) {
    if (site.operation == "aten::_softmax") root = site.error;
    if (site.stored.recomputed_by == "dropout") recomputed = site.error;
  }
  EXPECT_GT(root, 0.0) << compressor.report();
  EXPECT_GT(recomputed, 0.5 * root) << compressor.report();
  EXPECT_LT(recomputed, 2.0 * root) << compressor.report();
}

TEST(Recomputation, TakesSumsBehindBranches) {
  at::manual_seed(42);
  const at::Tensor x = at::randn({64, 48});
  const auto norm = [](const at::Tensor& h) { return at::layer_norm(h, {48}); };
  expect_derived("sum", x, [](const at::Tensor& h) { return h + h; });
  expect_derived("sum of norm", x, [&](const at::Tensor& h) { return norm(h) + h; });
  expect_derived("sum", x, [&](const at::Tensor& h) { return at::add(h, norm(h), -0.5); });
  expect_derived("relu of sum of norm", x,
                 [&](const at::Tensor& h) { return at::relu(norm(h) + h); });
  expect_derived("sum of norm", x, [&](const at::Tensor& h) { return norm(h).add_(h, 2.0); });
  expect_derived("sum", x.t(), [&](const at::Tensor& h) {
    return (h * 2.0) + norm(h.t().contiguous()).t();  // of other strides
  });
}

// Whose codes are the later ones: the earlier ones serve others as well.
TEST(Recomputation, ASumGivesItsBitsToTheLaterCodes) {
  at::manual_seed(43);
  const at::Tensor x = at::randn({64, 48}).requires_grad_();
  const at::Tensor weight = at::randn({48, 48}).requires_grad_();
  const Network network{x, {weight, x}, [&](const at::Tensor& h) {
                          const at::Tensor first = at::layer_norm(h, {48});
                          const at::Tensor later = at::layer_norm(at::mm(first, weight), {48});
                          return at::mm(at::relu(h + later), weight);
                        }};
  const at::Tensor exact = network.gradients(nullptr);
  Compressor compressor({.bits = 8});
  derive_all(compressor, Recompute::always);
  compressor.recompute("linear", Recompute::never);
  EXPECT_LT(distance(network.gradients(&compressor), exact), 0.02);
  EXPECT_THAT(stored(compressor).back(), IsRecomputed("relu of sum of norm"))
      << compressor.report();
}

TEST(Recomputation, ASumWithWhatDoesNotComeBackIsCoded) {
  at::manual_seed(44);
  const at::Tensor x = at::randn({64, 48}).requires_grad_();
  const at::Tensor weight = at::randn({64, 48}).requires_grad_();
  for (const at::Tensor& other : {at::randn({64, 48}), at::randn({1, 48}), at::randn({64, 1})}) {
    const Network network{x, {weight, x}, [&](const at::Tensor& h) {
                            return h * weight.square() + (h + other) * weight;
                          }};
    const at::Tensor exact = network.gradients(nullptr);
    Compressor compressor({.bits = 8});
    derive_all(compressor, Recompute::always);
    EXPECT_LT(distance(network.gradients(&compressor), exact), 0.02);
    // Normalised where the sum's rows or columns are unlike; compilers call terms in either order.
    EXPECT_EQ(compressor.sites().back().stored.storage, Storage::coded) << compressor.report();
  }
}

// What else keeps a mask says nothing of the product that follows.
TEST(Recomputation, DoesNotTakeAnotherMaskForThatOfDropout) {
  at::manual_seed(41);
  const at::Tensor x = at::randn({64, 48});
  const at::Tensor mask = x.gt(0.3);
  expect_derived("copy", x, [&](const at::Tensor& h) {
    at::masked_fill(h * 3.0, mask, 0.0);
    return h * 2.0;
  });
}

TEST(Recomputation, TakesWhatLayersMake) {
  at::manual_seed(34);
  const at::Tensor x = at::randn({64, 48});
  const at::Tensor weight = at::randn({32, 48}).requires_grad_(), bias = parameter({32});
  expect_derived("linear", x, [&](const at::Tensor& h) { return at::linear(h, weight, bias); },
                 {weight, bias});
  expect_derived("linear", x, [&](const at::Tensor& h) { return at::linear(h, weight); }, {weight});
  expect_derived("linear", x.view({4, 16, 48}),
                 [&](const at::Tensor& h) { return at::linear(h, weight, bias); }, {weight, bias});
  expect_derived("activation of linear of norm", x.view({4, 16, 48}), [&](const at::Tensor& h) {
    return at::silu(at::linear(at::layer_norm(h, {48}), weight));
  });
  // A view of a part, in another order.
  expect_derived("linear", x, [&](const at::Tensor& h) {
    return at::linear(h, weight).view({64, 2, 16}).transpose(0, 1).slice(0, 0, 1);
  });
}

TEST(Recomputation, TakesProbabilitiesOfScores) {
  at::manual_seed(35);
  const at::Tensor x = at::randn({64, 48}).requires_grad_();
  const at::Tensor weight = (at::randn({40, 48}) * 0.3).requires_grad_();
  const Network network{x, {weight, x}, [&](const at::Tensor& h) {
                          return at::log_softmax(at::linear(h, weight), 1);
                        }};
  const at::Tensor exact = network.gradients(nullptr);
  Compressor compressor({.bits = 8});
  derive_all(compressor, Recompute::always);
  EXPECT_LT(distance(network.gradients(&compressor), exact), 0.02);
  const std::vector<StoredAs> kept = stored(compressor);
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0].text(), "rotated, 8 bits");
  EXPECT_EQ(kept[1].text(), "recomputed: softmax of linear");
}

/// A block as transformers have it.
struct Attention {
  at::Tensor projection = (at::randn({96, 32}) * 0.2).requires_grad_();
  at::Tensor out = (at::randn({32, 32}) * 0.2).requires_grad_();
  at::Tensor gamma = parameter({32}), beta = parameter({32});

  Network network() const {
    const at::Tensor x = at::randn({4, 32, 32}).requires_grad_();
    return {x, {projection, out, gamma, beta, x}, [*this](const at::Tensor& h) {
              const at::Tensor y = at::layer_norm(h, {32}, gamma, beta);
              const auto parts = at::linear(y, projection).view({4, 32, 3, 4, 8}).unbind(2);
              const at::Tensor mixed = at::scaled_dot_product_attention(
                  parts[0].transpose(1, 2), parts[1].transpose(1, 2), parts[2].transpose(1, 2));
              return h + at::linear(mixed.transpose(1, 2).reshape({4, 32, 32}), out);
            }};
  }
};

// Places: the norm's input, the layer's, queries, keys and values, what is mixed.
TEST(Recomputation, AttentionIsRecomputedFromTheNormsInputOnceMeasured) {
  at::manual_seed(36);
  const Network network = Attention().network();
  const at::Tensor exact = network.gradients(nullptr);
  Compressor compressor({.bits = 2}), plain({.bits = 2});
  compressor.recompute("linear", Recompute::where_better);
  derive_all(plain, Recompute::never);
  const auto mean_error = [&](Compressor& one) {
    double sum = 0.0;
    for (int step = 0; step < 20; ++step) sum += distance(network.gradients(&one), exact);
    return sum / 20.0;
  };
  const double with = mean_error(compressor), without = mean_error(plain);
  EXPECT_LT(with, 0.6 * without) << compressor.report();
  const std::vector<StoredAs> kept = stored(compressor);
  ASSERT_EQ(kept.size(), 6U) << compressor.report();
  EXPECT_THAT(kept[1], IsRecomputed("norm"));
  for (const size_t i : {2U, 3U, 4U}) EXPECT_THAT(kept[i], IsRecomputed("linear of norm")) << i;
  // In the same bytes: 12 bits of every element of six.
  const auto bytes = [](const Compressor& one) {
    int64_t sum = 0;
    for (const Compressor::Site& site : one.sites()) sum += site.bytes_after;
    return static_cast<double>(sum);
  };
  EXPECT_LE(bytes(compressor), 1.02 * bytes(plain)) << compressor.report() << plain.report();
}

TEST(Recomputation, IsLeftOutWhereItsErrorIsLarger) {
  at::manual_seed(37);
  // Features that are too many to be kept apart are all of the input, and the norm's weight takes
  // them away.
  at::Tensor x = at::randn({128, 64});
  x.narrow(1, 5, 8).mul_(300.0);
  x = x.requires_grad_();
  at::Tensor gamma = at::ones({64});
  gamma.narrow(0, 5, 8).zero_();
  gamma.requires_grad_();
  const at::Tensor weight = at::randn({64, 64}).requires_grad_();
  const Network network{x, {weight, gamma}, [&](const at::Tensor& h) {
                          return at::linear(at::layer_norm(h, {64}, gamma), weight);
                        }};
  Compressor compressor({.bits = 2});
  for (int step = 0; step < 3; ++step) network.gradients(&compressor);
  EXPECT_THAT(stored(compressor), testing::Not(testing::Contains(IsRecomputed())))
      << compressor.report();
}

TEST(Recomputation, NeverMeansNever) {
  at::manual_seed(38);
  const Network network = Attention().network();
  Compressor compressor({.bits = 2});
  derive_all(compressor, Recompute::always);
  compressor.recompute("norm", Recompute::never);
  network.gradients(&compressor);
  const std::vector<StoredAs> kept = stored(compressor);
  EXPECT_THAT(kept.at(1), testing::Not(IsRecomputed())) << compressor.report();
  EXPECT_THAT(kept.at(2), IsRecomputed("linear"));
  Compressor none({.bits = 2});
  derive_all(none, Recompute::never);
  for (int step = 0; step < 3; ++step) network.gradients(&none);
  EXPECT_THAT(stored(none), testing::Not(testing::Contains(IsRecomputed())));
}

TEST(Recomputation, ARuleSaysHowItIsCoded) {
  at::manual_seed(39);
  const Network network = Attention().network();
  Compressor compressor({.bits = 2});
  derive_all(compressor, Recompute::always);
  compressor.rule("fewbit::attention", Bits{5});
  network.gradients(&compressor);
  for (const Compressor::Site& site : compressor.sites()) {
    if (site.operation != "fewbit::attention") continue;
    EXPECT_THAT(site.stored, IsCoded("rotated", 5));
  }
}

TEST(Recomputation, NamesAreChecked) {
  Compressor compressor;
  EXPECT_EQ(test::refusal([&] { compressor.recompute("gelu", Recompute::always); }),
            "fewbit::Compressor::recompute: 'gelu' is no kind of recomputation, accepted: *, copy, "
            "norm, relu, "
            "sign, dropout, sum, activation, linear, softmax, cast");
}

TEST(Recomputation, SharedByAllThatKeepIt) {
  at::manual_seed(40);
  const at::Tensor x = at::randn({64, 32}).requires_grad_();
  const at::Tensor weight = at::randn({32, 32}).requires_grad_();
  const Network network{x, {weight, x}, [&](const at::Tensor& h) {
                          const at::Tensor y = at::layer_norm(h, {32});
                          return at::mm(y, weight) + at::mm(y.view({64, 32}), weight);
                        }};
  Compressor compressor({.bits = 8});
  derive_all(compressor, Recompute::always);
  const at::Tensor exact = network.gradients(nullptr);
  for (int step = 0; step < 3; ++step) {
    EXPECT_LT(distance(network.gradients(&compressor), exact), 0.02);
  }
  EXPECT_THAT(stored(compressor),
              testing::ElementsAre(IsCoded("rotated", 8), IsRecomputed("norm")));
}

// What is computed again would not be what it was. Of a norm's parameters there are copies.
TEST(Recomputation, WeightsThatChangedAreRefused) {
  at::manual_seed(41);
  const at::Tensor x = at::randn({64, 32}).requires_grad_();
  const at::Tensor first = parameter({32, 32}), weight = at::randn({32, 32}).requires_grad_();
  Compressor compressor({.bits = 8});
  derive_all(compressor, Recompute::always);
  at::Tensor y;
  {
    const CompressionScope scope(compressor);
    y = at::mm(at::mm(x * 1.0, first), weight);
  }
  {
    const at::NoGradGuard no_grad;
    first.mul_(2.0);
  }
  const std::string error = test::refusal([&] { grad({y.sum()}, {weight}); });
  EXPECT_NE(error.find("modified by an inplace operation"), std::string::npos) << error;
}

TEST(Recomputation, WhatChangedInPlaceIsCoded) {
  at::manual_seed(42);
  const at::Tensor x = at::randn({64, 32}).requires_grad_();
  const at::Tensor weight = at::randn({32, 32}).requires_grad_();
  Compressor compressor({.bits = 8});
  derive_all(compressor, Recompute::always);
  const Network network{x, {weight, x}, [&](const at::Tensor& h) {
                          at::Tensor y = at::layer_norm(h, {32});
                          y.mul_(2.0);
                          const at::Tensor first = at::mm(y, weight);
                          const at::Tensor scaled = at::layer_norm(h, {32});
                          scaled.data().mul_(-3.0);
                          return first + at::mm(scaled, weight);
                        }};
  const at::Tensor exact = network.gradients(nullptr);
  EXPECT_LT(distance(network.gradients(&compressor), exact), 0.02) << compressor.report();
}

TEST(Recomputation, AGraphMayBeWalkedTwiceAndByThreads) {
  at::manual_seed(43);
  const Network network = Attention().network();
  Compressor compressor({.bits = 2});
  derive_all(compressor, Recompute::always);
  at::Tensor y;
  {
    const CompressionScope scope(compressor);
    y = network.forward(network.x * 1.0).square().mean();
  }
  const at::Tensor first = flat(grad({y}, network.parameters, {}, true));
  EXPECT_TRUE(at::equal(flat(grad({y}, network.parameters, {}, true)), first));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back(
        [&] { EXPECT_TRUE(at::equal(flat(grad({y}, network.parameters, {}, true)), first)); });
  }
  for (std::thread& thread : threads) thread.join();
}

// In a chain of convolution, norm and relu the convolution's input comes of the norm's.
TEST(Recomputation, AConvolutionalNetworkKeepsOneTensorOfTwo) {
  at::manual_seed(44);
  torch::nn::Sequential model;
  for (int i = 0; i < 3; ++i) {
    model->push_back(torch::nn::Conv2d(torch::nn::Conv2dOptions(16, 16, 3).padding(1)));
    model->push_back(torch::nn::BatchNorm2d(16));
    model->push_back(torch::nn::ReLU());
  }
  const at::Tensor x = at::randn({8, 16, 16, 16});
  const at::Tensor exact = gradients(model, x, nullptr);
  Compressor compressor({.bits = 2}), plain({.bits = 2});
  derive_all(plain, Recompute::never);
  double with = 0.0, without = 0.0;
  for (int step = 0; step < 10; ++step) {
    with += distance(gradients(model, x, &compressor), exact);
    without += distance(gradients(model, x, &plain), exact);
  }
  EXPECT_LT(with, 0.7 * without) << compressor.report() << plain.report();
  int recomputed = 0;
  for (const StoredAs& one : stored(compressor)) {
    recomputed += testing::Value(one, IsRecomputed("relu of norm"));
  }
  EXPECT_EQ(recomputed, 2) << compressor.report();
}

TEST(Recomputation, ALoadedOneGoesOnBitForBit) {
  const std::string path = testing::TempDir() + "/recomputed.txt";
  at::manual_seed(45);
  const Network network = Attention().network();
  Compressor whole({.bits = 1.7}), resumed({.bits = 1.7});
  for (Compressor* one : {&whole, &resumed}) one->recompute("linear", Recompute::where_better);
  for (int step = 0; step < 3; ++step) network.gradients(&whole);
  whole.save(path);
  resumed.load(path);
  EXPECT_EQ(test::places_of(resumed), test::places_of(whole));
  at::Tensor expected, after;
  for (int step = 0; step < 6; ++step) expected = network.gradients(&whole);
  for (int step = 0; step < 6; ++step) after = network.gradients(&resumed);
  EXPECT_TRUE(at::equal(after, expected));
  EXPECT_EQ(test::places_of(resumed), test::places_of(whole));
}

}  // namespace fewbit::compression_recompute_test
