// What an activation's codes tell of its output is not coded again.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "tests/compression/recompute_network.hpp"
#include "tests/support/stored_as.hpp"

namespace fewbit::known_classes_test {

using namespace test;

/// x through an activation and what follows into a layer.
Network network(const std::function<at::Tensor(const at::Tensor&)>& activated) {
  const at::Tensor x = (at::randn({256, 64}) * 1.2).requires_grad_();
  const at::Tensor weight = (at::randn({32, 64}) * 0.2).requires_grad_();
  return {x, {weight, x}, [=](const at::Tensor& h) { return at::linear(activated(h), weight); }};
}

StoredAs layers_input(const Compressor& compressor) {
  for (const Compressor::Site& site : compressor.sites()) {
    if (site.operation == "aten::addmm" || site.operation == "aten::mm") return site.stored;
  }
  return {};
}

/// The mean relative error of the gradients over some steps.
double error_of(const Network& network, Compressor& compressor) {
  const at::Tensor exact = network.gradients(nullptr);
  double sum = 0.0;
  for (int step = 0; step < 8; ++step) sum += distance(network.gradients(&compressor), exact) / 8.0;
  return sum;
}

TEST(KnownClasses, ALayersInputIsCodedBesideTheCodesOfItsActivation) {
  at::manual_seed(51);
  struct Case {
    const char* name;
    std::function<at::Tensor(const at::Tensor&)> activation;
    double less;  ///< of the error by rotated
  };
  const Case cases[] = {
      {"relu", [](const at::Tensor& x) { return at::relu(x); }, 0.62},
      {"relu_", [](const at::Tensor& x) { return x.clone().relu_(); }, 0.62},
      {"gelu", [](const at::Tensor& x) { return at::gelu(x); }, 0.4},
      {"silu", [](const at::Tensor& x) { return at::silu(x); }, 0.3},
      {"relu, viewed",
       [](const at::Tensor& x) {
         return at::relu(x.view({16, 16, 64})).view({256, 64});
       },
       0.62},
  };
  for (const auto& [name, activation, less] : cases) {
    const Network one = network(activation);
    // Of the layer alone: x's gradient is exact.
    const Network of_layer{one.x, {one.parameters[0]}, one.forward};
    Compressor compressor({.bits = 2, .activation_bits = 3});
    const double error = error_of(of_layer, compressor);
    EXPECT_THAT(layers_input(compressor), IsCoded("rotated by class", 2)) << name;
    // Rotated alone errs by D of what is no mean.
    const at::Tensor y = activation(one.x.detach());
    const double centred = ((y - y.mean()).square().mean() / y.square().mean()).item<double>();
    const double rotated = std::sqrt(0.134 * centred);
    EXPECT_LT(error, less * rotated) << name << ": " << error << " of " << rotated;
  }
}

TEST(KnownClasses, WhatIsDroppedIsKnownToBeZero) {
  at::manual_seed(52);
  for (const char* function : {"relu", "gelu"}) {
    const std::string name = function;
    const Network one = network([name](const at::Tensor& x) {
      at::manual_seed(4);  // the same mask
      return at::dropout(name == "relu" ? at::relu(x) : at::gelu(x), 0.3, true);
    });
    Compressor compressor({.bits = 2});
    EXPECT_LT(error_of(one, compressor), 0.15) << name;
    EXPECT_THAT(layers_input(compressor), IsCoded("rotated by class", 2)) << name;
  }
}

TEST(KnownClasses, ManyAreMergedAndTellNoLess) {
  at::manual_seed(58);
  for (const double share_dropped : {0.0, 0.25}) {
    const Network one = network([share_dropped](const at::Tensor& x) {
      at::manual_seed(4);  // the same mask
      return at::dropout(at::gelu(x), share_dropped, true);
    });
    const Network of_layer{one.x, {one.parameters[0]}, one.forward};
    double least = std::numeric_limits<double>::infinity();
    for (const int bits : {3, 4, 5, 6, 8}) {  // the last three have 32 levels and more
      Compressor compressor({.bits = 4, .activation_bits = bits});
      const double error = error_of(of_layer, compressor);
      EXPECT_THAT(layers_input(compressor), IsCoded("rotated by class", 4)) << bits;
      EXPECT_LT(error, 1.05 * least) << bits << " bits, dropped " << share_dropped;
      least = std::min(least, error);
    }
  }
}

TEST(KnownClasses, WhatIsGreatestOfAWindowIsOfItsClass) {
  at::manual_seed(57);
  for (const auto format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
    const at::Tensor x = at::randn({8, 16, 14, 14}).contiguous(format).requires_grad_();
    const at::Tensor weight = (at::randn({8, 16, 3, 3}) * 0.2).requires_grad_();
    for (const char* function : {"relu", "gelu"}) {
      const bool is_relu = std::string(function) == "relu";
      const Network one{x, {weight}, [=](const at::Tensor& h) {
                          return at::conv2d(
                              at::max_pool2d(is_relu ? at::relu(h) : at::gelu(h), 3, 2, 1), weight);
                        }};
      Compressor compressor({.bits = 2}), other({.bits = 2, .scheme = Scheme::group});
      // Hardly any of what is greatest is zero, so that relu's signs tell little of it.
      const double share = error_of(one, compressor) / error_of(one, other);
      EXPECT_LT(share, is_relu ? 0.6 : 0.45) << function;
      EXPECT_THAT(stored(compressor), testing::Contains(IsCoded("rotated by class", 2)))
          << compressor.report();
    }
  }
}

TEST(KnownClasses, NothingIsKnownOfWhatChanged) {
  at::manual_seed(53);
  const Network changed = network([](const at::Tensor& x) { return at::gelu(x).mul_(-2.0); });
  const Network behind = network([](const at::Tensor& x) {
    at::Tensor y = at::gelu(x);
    y.data().mul_(-3.0).add_(1.0);
    return y;
  });
  const Network part = network([](const at::Tensor& x) {
    return at::gelu(at::cat({x, x}, 0)).narrow(0, 100, 256);
  });
  for (const Network& one : {changed, behind, part}) {
    Compressor compressor({.bits = 8, .activation_bits = 8});
    EXPECT_LT(error_of(one, compressor), 0.02);
    EXPECT_THAT(layers_input(compressor), IsCoded("rotated", 8)) << compressor.report();
  }
}

/// An operation that something may be known behind, or no longer.
at::Tensor followed(const at::Tensor& x, int which) {
  switch (which) {
    case 0:
      at::manual_seed(6);  // the same mask whatever draws beside it
      return at::dropout(x, 0.3, true);
    case 1:
      return at::max_pool2d(x, 2);
    case 2:
      return x.clone();
    case 3:
      return x.contiguous(at::MemoryFormat::ChannelsLast);
    case 4:
      return x.transpose(2, 3);
    case 5:
      return x.narrow(0, 1, x.size(0) - 1);
    case 6:
      return at::empty_like(x).copy_(x);
    case 7:
      return at::relu(x);
    default:
      return at::silu(x);
  }
}

TEST(KnownClasses, WhateverFollowsComesBack) {
  std::mt19937 random(58);
  for (int round = 0; round < 60; ++round) {
    std::vector<int> chain = {7 + static_cast<int>(random() % 2)};
    for (int i = 0; i < 3; ++i) chain.push_back(static_cast<int>(random() % 9));
    at::manual_seed(round);
    const at::Tensor x = at::randn({6, 8, 16, 16}).requires_grad_();
    const auto made = [&chain](at::Tensor h) {
      for (const int which : chain) h = followed(h, which);
      return h;
    };
    const at::Tensor weight = at::randn(made(x).sizes()).requires_grad_();
    const Network one{x, {weight}, [&](const at::Tensor& h) { return made(h) * weight; }};
    Compressor compressor({.bits = 8, .activation_bits = 4});
    const at::Tensor exact = one.gradients(nullptr);
    for (int step = 0; step < 2; ++step) {
      EXPECT_LT(distance(one.gradients(&compressor), exact), 0.02)
          << testing::PrintToString(chain) << '\n'
          << compressor.report();
    }
  }
}

TEST(KnownClasses, OtherSchemesKeepTheirCodecs) {
  at::manual_seed(54);
  const Network one = network([](const at::Tensor& x) { return at::gelu(x); });
  Compressor compressor({.bits = 2, .scheme = Scheme::group});
  one.gradients(&compressor);
  EXPECT_THAT(layers_input(compressor), IsCoded("group", 2));
}

// The codes are the activation's own: what is counted is what the layer's input adds.
TEST(KnownClasses, AddNoBytes) {
  at::manual_seed(55);
  const Network one = network([](const at::Tensor& x) { return at::gelu(x); });
  Compressor compressor({.bits = 2});
  one.gradients(&compressor);
  for (const Compressor::Site& site : compressor.sites()) {
    if (!testing::Value(site.stored, IsCoded("rotated by class", 2))) continue;
    EXPECT_EQ(site.bytes_after, 256 * 64 / 4 + 64 * 4 + 8 + 8 * 8);
  }
}

TEST(KnownClasses, ALoadedOneGoesOnBitForBit) {
  const std::string path = testing::TempDir() + "/known_classes.txt";
  at::manual_seed(56);
  const Network one = network([](const at::Tensor& x) { return at::gelu(x); });
  Compressor whole({.bits = 1.5}), resumed({.bits = 1.5});
  for (int step = 0; step < 3; ++step) one.gradients(&whole);
  whole.save(path);
  resumed.load(path);
  EXPECT_EQ(test::places_of(resumed), test::places_of(whole));
  at::manual_seed(5);
  const at::Tensor expected = one.gradients(&whole);
  at::manual_seed(5);
  EXPECT_TRUE(at::equal(one.gradients(&resumed), expected));
}

}  // namespace fewbit::known_classes_test
