// Inputs of norms, coded once it is known whether an activation's codes tell of them.
#include <functional>
#include <optional>
#include <random>
#include <stdexcept>

#include <gtest/gtest.h>

#include "fewbit/saved_bytes.hpp"
#include "tests/compression/recompute_network.hpp"
#include "tests/support/stored_as.hpp"

namespace fewbit::deferred_input_test {

using namespace test;

at::Tensor batch_norm(const at::Tensor& x) {
  const at::Tensor mean = at::zeros({x.size(1)}), variance = at::ones({x.size(1)});
  return at::batch_norm(x, {}, {}, mean, variance, true, 0.1, 1e-5, false);
}

/// What follows x, and x's gradient.
Network network(const std::function<at::Tensor(const at::Tensor&)>& followed) {
  const at::Tensor x = at::randn({8, 16, 12, 12}).requires_grad_();
  return {x, {x}, followed};
}

/// How the norm's input is kept, and what it errs.
Compressor::Site norm_of(const Compressor& compressor) {
  for (const Compressor::Site& site : compressor.sites()) {
    if (site.operation.find("norm") != std::string::npos) return site;
  }
  ADD_FAILURE() << compressor.report();
  return {};
}

double error_of(const Network& one, Compressor& compressor, int steps = 2) {
  const at::Tensor exact = one.gradients(nullptr);
  double error = 0.0;
  for (int i = 0; i < steps; ++i) error = distance(one.gradients(&compressor), exact);
  return error;
}

struct Case {
  const char* name;
  std::function<at::Tensor(const at::Tensor&)> followed;
  double most = 0.0;  ///< squared error at 2 bits; rotated errs by .132
};

TEST(DeferredInput, ANormsInputIsCodedBesideTheCodesOfTheActivationBehindIt) {
  at::manual_seed(61);
  const Case cases[] = {
      {"relu", [](const at::Tensor& x) { return at::relu(batch_norm(x)); }, 0.05},
      {"relu_", [](const at::Tensor& x) { return batch_norm(x).relu_(); }, 0.05},
      {"gelu", [](const at::Tensor& x) { return at::gelu(batch_norm(x)); }, 0.02},
      {"silu", [](const at::Tensor& x) { return at::silu(batch_norm(x)); }, 0.02},
      {"a layer's norm",
       [](const at::Tensor& x) {
         return at::relu(at::layer_norm(x, {12, 12}));
       },
       0.05},
      {"a groups' norm", [](const at::Tensor& x) { return at::relu(at::group_norm(x, 4)); }, 0.05},
      {"channels last",
       [](const at::Tensor& x) {
         return at::relu(batch_norm(x.contiguous(at::MemoryFormat::ChannelsLast)));
       },
       0.05},
  };
  for (const auto& [name, followed, most] : cases) {
    Compressor compressor({.bits = 2});
    const double error = error_of(network(followed), compressor);
    const Compressor::Site site = norm_of(compressor);
    EXPECT_THAT(site.stored, IsCoded("rotated by class", 2)) << name;
    EXPECT_LT(site.error, most) << name;
    EXPECT_LT(error, 0.5) << name;
  }
}

TEST(DeferredInput, WhereNoCodesTellItIsRotated) {
  at::manual_seed(62);
  const at::Tensor weight = at::randn({4, 16, 3, 3});
  const Case cases[] = {
      {"nothing follows", batch_norm},
      {"a sum before the activation",
       [](const at::Tensor& x) { return at::relu(batch_norm(x) + x); }},
      {"another layer",
       [weight](const at::Tensor& x) { return at::relu(at::conv2d(batch_norm(x), weight)); }},
      {"a part", [](const at::Tensor& x) { return at::relu(batch_norm(x).narrow(0, 1, 6)); }},
      {"laid out otherwise",
       [](const at::Tensor& x) {
         return at::relu(batch_norm(x).contiguous(at::MemoryFormat::ChannelsLast));
       }},
      {"changed", [](const at::Tensor& x) { return at::relu(batch_norm(x).mul_(-1.0)); }},
  };
  for (const auto& [name, followed, most] : cases) {
    Compressor compressor({.bits = 8});
    EXPECT_LT(error_of(network(followed), compressor), 0.01) << name;
    EXPECT_THAT(norm_of(compressor).stored, IsCoded("rotated", 8)) << name;
  }
}

// As an in-place layer before or behind does.
TEST(DeferredInput, IsWhatItWasWhenItWasSaved) {
  at::manual_seed(63);
  const Case cases[] = {
      {"changed before the activation",
       [](const at::Tensor& x) {
         const at::Tensor h = x * 1.0;
         const at::Tensor y = batch_norm(h);
         h.detach().mul_(-3.0);
         return at::relu(y);
       }},
      {"changed behind it",
       [](const at::Tensor& x) {
         const at::Tensor h = x * 1.0;
         const at::Tensor y = at::relu(batch_norm(h));
         h.detach().zero_();
         return y;
       }},
      {"changed by what names it as a result",
       [](const at::Tensor& x) {
         const at::Tensor h = x * 1.0;
         const at::Tensor y = batch_norm(h);
         at::Tensor target = h.detach();
         {
           const at::NoGradGuard no_grad;
           at::neg_out(target, y.detach());
         }
         return at::relu(y);
       }},
      {"changed through a view",
       [](const at::Tensor& x) {
         const at::Tensor h = x * 1.0;
         const at::Tensor part = h.detach().select(0, 1);
         const at::Tensor y = batch_norm(h);
         part.fill_(7.0);
         return at::relu(y);
       }},
  };
  for (const auto& [name, followed, most] : cases) {
    const Network one = network(followed);
    // Exact autograd refuses it.
    const Network unchanged{
        one.x, {one.x}, [](const at::Tensor& x) { return at::relu(batch_norm(x)); }};
    Compressor compressor({.bits = 8});
    for (int step = 0; step < 2; ++step) {
      EXPECT_LT(distance(one.gradients(&compressor), unchanged.gradients(nullptr)), 0.01) << name;
    }
  }
}

TEST(DeferredInput, ABackwardPassMayComeBeforeItIsCoded) {
  at::manual_seed(64);
  const at::Tensor x = at::randn({8, 16, 12, 12}).requires_grad_();
  const auto grad = [&](bool is_within, Compressor* compressor) {
    std::optional<CompressionScope> scope;
    if (compressor != nullptr) scope.emplace(*compressor);
    const at::Tensor y = batch_norm(x * 1.0);
    if (!is_within) scope.reset();
    return torch::autograd::grad({y.pow(3).sum()}, {x})[0];
  };
  Compressor compressor({.bits = 2});
  EXPECT_LT(distance(grad(true, &compressor), grad(true, nullptr)), 0.2);
  EXPECT_LT(distance(grad(false, &compressor), grad(false, nullptr)), 0.5);
}

/// Bytes by the meter, inside of the scope and once it is closed, where the meter's watch begins
/// before the scope, or ends before it does.
std::pair<int64_t, int64_t> bytes_of(Compressor& compressor,
                                     const std::function<at::Tensor()>& forward, bool is_outside) {
  SavedBytes meter;
  at::Tensor result;
  int64_t within = 0;
  if (is_outside) {
    const auto watch = meter.watch();
    const CompressionScope scope(compressor);
    result = forward();
    within = meter.unique_bytes();
  } else {
    const CompressionScope scope(compressor);
    const auto watch = meter.watch();
    result = forward();
    within = meter.unique_bytes();
  }
  return {within, meter.unique_bytes()};
}

TEST(DeferredInput, IsCountedOnceItIsCoded) {
  at::manual_seed(65);
  const at::Tensor x = at::randn({8, 16, 12, 12}).requires_grad_();
  constexpr int64_t kStatistics = 4 * 16 * 4;  // of this batch and running
  for (const bool is_outside : {true, false}) {
    Compressor compressor({.bits = 2});
    const auto [waiting, settled] = bytes_of(
        compressor, [&] { return batch_norm(x * 1.0); }, is_outside);
    EXPECT_EQ(waiting, kStatistics) << is_outside;
    EXPECT_EQ(settled, norm_of(compressor).bytes_after + kStatistics) << is_outside;
    Compressor by_class({.bits = 2});
    const auto [with_codes, later] = bytes_of(
        by_class, [&] { return at::relu(batch_norm(x * 1.0)); }, is_outside);
    EXPECT_EQ(with_codes, later) << is_outside;
    EXPECT_EQ(later, norm_of(by_class).bytes_after + kStatistics + x.numel() / 8) << is_outside;
  }
}

TEST(DeferredInput, WhatThrowsOrIsDroppedLeavesNothing) {
  at::manual_seed(66);
  const at::Tensor x = at::randn({8, 16, 12, 12}).requires_grad_();
  Compressor compressor({.bits = 2});
  SavedBytes meter;
  int64_t kept = 0;
  {
    const auto watch = meter.watch();
    EXPECT_THROW(
        {
          const CompressionScope scope(compressor);
          const at::Tensor y = batch_norm(x * 1.0);
          throw std::runtime_error("no more");
        },
        std::runtime_error);
    kept = meter.unique_bytes();
    const CompressionScope scope(compressor);
    for (int i = 0; i < 3; ++i) {
      batch_norm(x * 1.0);
      at::relu(batch_norm(x * 1.0));
    }
  }
  EXPECT_LT(kept, 6000);  // at its peak that of one norm
  EXPECT_LT(meter.unique_bytes(), 3 * 6000);
  const Network one = network([](const at::Tensor& h) { return at::relu(batch_norm(h)); });
  EXPECT_LT(error_of(one, compressor), 0.5);
}

at::Tensor drawn(const at::Tensor& x, int which, const at::Tensor& beside) {
  switch (which) {
    case 0:
    case 1:
      return batch_norm(x);
    case 2:
      return at::group_norm(x, 4);
    case 3:
      return at::relu(x);
    case 4:
      return at::silu(x);
    case 5:
      return x + beside;
    case 6:
      return x.contiguous(at::MemoryFormat::ChannelsLast);
    case 7:
      return x * x;
    case 8:
      return at::max_pool2d(x, 3, 1, 1);
    default:
      return x.clone().add_(0.25);
  }
}

TEST(DeferredInput, WhateverFollowsComesBack) {
  std::mt19937 random(67);
  for (int round = 0; round < 80; ++round) {
    std::vector<int> chain;
    for (int i = 0; i < 5; ++i) chain.push_back(static_cast<int>(random() % 10));
    at::manual_seed(round);
    const at::Tensor beside = at::randn({4, 8, 12, 12}).requires_grad_();
    const at::Tensor x = at::randn({4, 8, 12, 12}).requires_grad_();
    const Network one{x, {x, beside}, [&](at::Tensor h) {
                        for (const int which : chain) h = drawn(h, which, beside);
                        return h * beside;
                      }};
    Compressor compressor({.bits = 8, .activation_bits = 8});
    const at::Tensor exact = one.gradients(nullptr);
    for (int step = 0; step < 2; ++step) {
      EXPECT_LT(distance(one.gradients(&compressor), exact), 0.05)
          << testing::PrintToString(chain) << '\n'
          << compressor.report();
    }
  }
}

}  // namespace fewbit::deferred_input_test
