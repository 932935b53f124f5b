// What the allocator holds after a forward in a scope, against what it holds without one.
#include <cstdlib>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/compression/allocated.hpp"
#include "tests/compression/recompute_network.hpp"
#include "tests/support/refusal.hpp"

namespace fewbit::held_memory_test {

using namespace test;
using testing::HasSubstr;

using Forward = std::function<at::Tensor(const at::Tensor&)>;

struct Case {
  const char* name;
  Forward forward;
};

/// Whose gradients libtorch takes out of their inputs.
std::vector<Forward> smooth_activations() {
  return {
      [](const at::Tensor& y) { return at::gelu(y); },
      [](const at::Tensor& y) { return at::gelu(y, "tanh"); },
      [](const at::Tensor& y) { return at::silu(y); },
      [](const at::Tensor& y) { return at::mish(y); },
      [](const at::Tensor& y) { return at::hardswish(y); },
      [](const at::Tensor& y) { return at::selu(y); },
      [](const at::Tensor& y) { return at::elu(y, 0.7); },
      [](const at::Tensor& y) { return at::celu(y, 0.7); },
  };
}

using Change = std::function<void(at::Tensor&)>;

std::vector<Change> activations_in_place() {
  return {
      [](at::Tensor& y) { at::relu_(y); },        [](at::Tensor& y) { at::leaky_relu_(y); },
      [](at::Tensor& y) { at::elu_(y, 0.7); },    [](at::Tensor& y) { at::celu_(y, 0.7); },
      [](at::Tensor& y) { at::selu_(y); },        [](at::Tensor& y) { at::gelu_(y); },
      [](at::Tensor& y) { at::silu_(y); },        [](at::Tensor& y) { at::mish_(y); },
      [](at::Tensor& y) { at::hardswish_(y); },   [](at::Tensor& y) { at::hardtanh_(y); },
      [](at::Tensor& y) { at::hardsigmoid_(y); },
  };
}

void expect_no_more(std::span<const Case> cases) {
  at::manual_seed(51);
  const at::Tensor x = at::randn({256, 256}).requires_grad_();
  for (const auto& [name, body] : cases) {
    const auto forward = [&x, &body = body] { return body(x * 1.0); };
    const int64_t exact = allocated(forward, nullptr);
    for (const double bits : {1.0, 2.0, 8.0}) {
      Compressor compressor({.bits = bits});
      for (int step = 0; step < 3; ++step) {
        EXPECT_LE(allocated(forward, &compressor), exact + exact / 100)
            << name << ", " << bits << " bits, step " << step << '\n'
            << compressor.report();
      }
    }
  }
}

TEST(HeldMemory, IsNoMoreThanWithoutAScope) {
  at::manual_seed(50);
  const at::Tensor weight = parameter({256, 256});
  const Case cases[] = {
      {"exact first, coded then", [&](const at::Tensor& h) { return at::mm(at::exp(h), weight); }},
      {"coded first, exact then",
       [&](const at::Tensor& h) { return at::mm(h, weight) + at::pow(h, 3.0); }},
      {"a small part of much",
       [&](const at::Tensor& h) { return at::mul(h, 2.0).select(0, 3) * weight.select(0, 0); }},
      {"an activation that is left alone, and a layer",
       [&](const at::Tensor& h) { return at::mm(at::sigmoid(h), weight); }},
      {"activations of what others keep",
       [&](const at::Tensor& h) {
         const at::Tensor first = at::abs(h), second = first + at::gelu(h);
         return second + at::silu(h);
       }},
      {"small parts, each several times",
       [&](const at::Tensor& h) {
         at::Tensor sum = at::zeros({256});
         for (int64_t i = 0; i < 300; ++i) sum = sum + h.select(0, i / 3) * weight.select(0, 1);
         return sum;
       }},
      {"what a sum comes of, and an operation without a rule",
       [&](const at::Tensor& h) {
         const at::Tensor y = at::layer_norm(h, {256});
         const at::Tensor first = at::abs(h), second = at::clamp(y, -1.0, 1.0);
         return at::mm(y, weight) + first + second;
       }},
      {"an activation of what others keep afterwards",
       [&](const at::Tensor& h) {
         at::Tensor sum = at::zeros({});
         for (const Forward& activation : smooth_activations()) {
           const at::Tensor y = h * 2.0, first = activation(y), second = at::abs(y);
           sum = sum + (first + second).sum();
         }
         return sum;
       }},
      {"a relu's output that others keep",
       [&](const at::Tensor& h) {
         const at::Tensor y = at::relu(h);
         return at::pow(y, 3.0).sum() + at::sin(at::relu(h * 2.0)).sum() + (y / y.norm()).sum();
       }},
      {"outputs of activations in place that others keep",
       [&](const at::Tensor& h) {
         at::Tensor sum = at::zeros({});
         for (const Change& change : activations_in_place()) {
           at::Tensor y = h * 2.0;
           change(y);
           sum = sum + at::sin(y).sum() + at::log(y.abs() + 1.5).sum();
         }
         return sum;
       }},
      {"signs of what others keep",
       [&](const at::Tensor& h) {
         const at::Tensor y = h * 2.0;
         return at::leaky_relu(y) + at::hardtanh(y) + at::relu6(y) + at::hardsigmoid(y) +
                at::threshold(y, 0.1, 0.0) + at::hardshrink(y) + at::softshrink(y) + at::abs(y);
       }},
      {"probabilities beside their logarithms",
       [&](const at::Tensor& h) {
         const at::Tensor first = at::log_softmax(h, 1), second = at::log_softmax(h * 2.0, 1);
         return (first.exp() * first).sum() + at::log(second.square() + 1.0).sum() +
                at::pow(at::log_softmax(h * 3.0, 1), 3.0).sum();
       }},
      {"probabilities beside their logarithms, and a logarithm behind both",
       [&](const at::Tensor& h) {
         const at::Tensor first = at::log_softmax(h, 1), entropy = first.exp() * first;
         return at::log(entropy.square() + 1.0).sum() + entropy.sum();
       }},
      {"a norm's input that others keep while it waits",
       [&](const at::Tensor& h) { return at::relu(at::layer_norm(h, {256})) + at::pow(h, 3.0); }},
  };
  expect_no_more(cases);
}

TEST(HeldMemory, IsNoMoreWhereViewsOverlap) {
  at::manual_seed(50);
  const at::Tensor weight = parameter({256, 256}), narrow = parameter({8, 16});
  const Case cases[] = {
      {"overlapping windows",
       [&](const at::Tensor& h) { return at::matmul(h.unfold(1, 8, 1), narrow); }},
      {"views that overlap",
       [&](const at::Tensor& h) {
         at::Tensor sum = at::mm(h.narrow(0, 0, 128), weight);
         for (int64_t i = 1; i < 16; ++i) sum = sum + at::mm(h.narrow(0, 8 * i, 128), weight);
         return sum;
       }},
      {"activations of views that overlap",
       [&](const at::Tensor& h) {
         at::Tensor sum = at::zeros({});
         for (const Forward& activation : smooth_activations()) {
           const at::Tensor y = h * 2.0;
           for (int64_t i = 0; i < 8; ++i) sum = sum + activation(y.narrow(0, 8 * i, 128)).sum();
         }
         return sum;
       }},
      {"activations and a layer of views that overlap",
       [&](const at::Tensor& h) {
         at::Tensor sum = at::mm(h, weight);
         for (int64_t i = 0; i < 4; ++i) {
           sum = sum + at::gelu(h.narrow(1, i, 200)).sum() +
                 at::mm(h.narrow(0, i, 200), weight).sum();
         }
         return sum;
       }},
      {"products and squares of views that overlap",
       [&](const at::Tensor& h) {
         at::Tensor sum = at::zeros({});
         for (int64_t i = 1; i < 16; ++i) {
           sum = sum + (h.narrow(1, 0, 112) * h.narrow(1, i, 112)).sum() +
                 h.narrow(1, 4 * i, 64).square().sum();
         }
         return sum;
       }},
  };
  expect_no_more(cases);
}

TEST(HeldMemory, AnActivationOfWhatOthersKeepHasItsExactGradient) {
  at::manual_seed(55);
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kBFloat16}) {
    const at::Tensor x = at::randn({64, 64}).mul(3.0).to(type).requires_grad_();
    for (const Forward& activation : smooth_activations()) {
      const auto forward = [&] {
        const at::Tensor y = (x * 1.0).t(), first = activation(y);
        return (first * first.detach() + at::abs(y)).sum();
      };
      const at::Tensor exact = torch::autograd::grad({forward()}, {x})[0];
      Compressor compressor({.bits = 2});
      at::Tensor loss;
      {
        const CompressionScope scope(compressor);
        loss = forward();
      }
      EXPECT_EQ(compressor.sites().at(0).stored.text(), "exact, shared") << compressor.report();
      const double near = type == at::kBFloat16 ? 0.01 : 1e-5;
      EXPECT_LT(distance(torch::autograd::grad({loss}, {x})[0], exact), near)
          << compressor.report();
    }
  }
}

TEST(HeldMemory, AnActivationInPlaceWhoseOutputOthersKeepHasItsExactGradient) {
  at::manual_seed(56);
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kBFloat16}) {
    const at::Tensor x = at::randn({64, 64}).mul(3.0).to(type).requires_grad_();
    for (const Change& change : activations_in_place()) {
      const auto forward = [&] {
        at::Tensor y = (x * 1.0).t();
        change(y);
        const at::Tensor first = at::log(y.abs() + 1.5);  // before a sum says that codes do
        return first.sum() + at::sin(y).sum();
      };
      const at::Tensor exact = torch::autograd::grad({forward()}, {x})[0];
      Compressor compressor({.bits = 2});
      at::Tensor loss;
      {
        const CompressionScope scope(compressor);
        loss = forward();
      }
      const double near = type == at::kBFloat16 ? 0.01 : 1e-5;
      EXPECT_LT(distance(torch::autograd::grad({loss}, {x})[0], exact), near)
          << compressor.report();
    }
  }
}

// What somebody kept as it is, and let go of, is coded for the next one.
TEST(HeldMemory, WhatWasKeptExactlyCountsNoLongerThanItIs) {
  at::manual_seed(54);
  const at::Tensor x = at::randn({256, 256}).requires_grad_();
  const at::Tensor weight = parameter({256, 256}), narrow = parameter({8, 16});
  const struct {
    const char* name;
    std::function<void(const at::Tensor&)> hold;
  } cases[] = {
      {"a node that is gone", [&](const at::Tensor& h) { at::sin(h); }},
      {"a node whose backward ran",
       [&](const at::Tensor& h) { torch::autograd::grad({at::sin(h).sum()}, {h}); }},
      {"codes of more bytes, then exact",
       [&](const at::Tensor& h) { at::matmul(h.unfold(1, 8, 1), narrow); }},
      {"codes that another one made exact",
       [&](const at::Tensor& h) { at::mm(h, weight) + at::sin(h); }},
  };
  for (const auto& [name, hold] : cases) {
    const auto forward = [&, &hold = hold](bool holds) {
      const at::Tensor h = x * 1.0;
      if (holds) hold(h);
      return at::mm(h, weight);
    };
    const auto bytes = [&](bool holds) {
      Compressor compressor({.bits = 2});
      return allocated([&] { return forward(holds); }, &compressor);
    };
    EXPECT_LE(bytes(true), bytes(false) + 1024) << name;
  }
}

// A graph of operations that fewbit codes and of some that it does not know.
at::Tensor drawn(const std::vector<at::Tensor>& all, std::mt19937& random,
                 const at::Tensor& weight) {
  const at::Tensor& x = all[random() % all.size()];
  const at::Tensor& other = all[random() % all.size()];
  switch (random() % 17) {
    case 0:
      return at::mm(x, weight);
    case 1:
      return x * other;
    case 2:
      return x + other;
    case 3:
      return at::exp(x * 0.01);
    case 4:
      return at::layer_norm(x, {x.size(1)});
    case 5:
      return at::relu(x);
    case 6:
      return at::pow(x, 3.0) * 0.01;
    case 7:
      return at::tanh(x);
    case 8:
      return at::dropout(x, 0.1, true);
    case 9:
      return at::softmax(x, 1);
    case 10:
      return at::cat({x.narrow(0, 0, 64), other.narrow(0, 64, 64)});
    case 11:
      return at::mm(x.t(), other);
    case 12:
      return at::sin(x);
    case 13:
      return at::gelu(x);
    case 14:
      return at::celu(x);
    case 15:
      return at::log_softmax(x, 1);
    default:
      return x.narrow(1, 3, 1) * other;
  }
}

TEST(HeldMemory, IsNoMoreThanWithoutAScopeOnRandomGraphs) {
  const at::Tensor weight = parameter({128, 128});
  const at::Tensor x = at::randn({128, 128}).requires_grad_();
  for (int round = 0; round < 150; ++round) {
    const auto forward = [&] {
      std::mt19937 random(static_cast<unsigned>(round));
      at::manual_seed(round);
      std::vector<at::Tensor> all = {x * 1.0};
      for (int i = 0; i < 10; ++i) all.push_back(drawn(all, random, weight));
      at::Tensor sum = at::zeros({});
      for (const at::Tensor& one : all) sum = sum + one.sum();
      return sum;
    };
    const int64_t exact = allocated(forward, nullptr);
    Compressor compressor({.bits = round % 2 == 0 ? 2.0 : 8.0});
    for (int step = 0; step < 2; ++step) {
      EXPECT_LE(allocated(forward, &compressor), exact + exact / 100)
          << "round " << round << ", step " << step << '\n'
          << compressor.report();
    }
  }
}

// While the thread of the scope makes others keep the same memory.
TEST(HeldMemory, GraphsMayBeFreedInAnotherThread) {
  const at::Tensor weight = parameter({32, 64});
  const at::Tensor x = at::randn({64, 32}).requires_grad_();
  for (int round = 0; round < 200; ++round) {
    Compressor compressor({.bits = 2});
    const CompressionScope scope(compressor);
    const at::Tensor h = x * 1.0;
    std::vector<at::Tensor> graphs;
    for (int i = 0; i < 8; ++i) graphs.push_back(at::mm(h, weight));
    std::thread freeing([&] { graphs.clear(); });
    const at::Tensor kept = at::sin(h);
    freeing.join();
  }
}

class Folder {
 public:
  explicit Folder(const char* path) {
    if (const char* now = std::getenv("TMPDIR")) before_ = now;
    setenv("TMPDIR", path, 1);
  }
  ~Folder() {
    if (before_.empty()) {
      unsetenv("TMPDIR");
    } else {
      setenv("TMPDIR", before_.c_str(), 1);
    }
  }

 private:
  std::string before_;
};

// Wherever it arises: at a saved tensor, in a call, at the end of the scope.
TEST(HeldMemory, AFolderThatIsNotThereIsToldOnceWhereTheCallerSeesIt) {
  const Folder folder("/nowhere");
  at::manual_seed(53);
  const at::Tensor x = at::randn({64, 512}).requires_grad_();
  const at::Tensor weight = parameter({512, 512});
  const Case cases[] = {
      {"five norms",
       [](at::Tensor h) {
         for (int i = 0; i < 5; ++i) h = at::layer_norm(h, {512});
         return h;
       }},
      {"one norm", [](const at::Tensor& h) { return at::layer_norm(h, {512}); }},
      {"a norm and an activation",
       [](const at::Tensor& h) { return at::relu(at::layer_norm(h, {512})); }},
      {"a layer", [&](const at::Tensor& h) { return at::mm(h, weight); }},
  };
  const at::Tensor dy = at::randn({64, 512});
  for (const auto& [name, body] : cases) {
    const at::Tensor exact = torch::autograd::grad({body(x * 1.0)}, {x}, {dy})[0];
    Compressor compressor({.bits = 8, .offload = true});
    int thrown = 0;
    for (int step = 0; step < 6; ++step) {
      try {
        at::Tensor y;
        {
          const CompressionScope scope(compressor);
          y = body(x * 1.0);
        }
        EXPECT_LT(distance(torch::autograd::grad({y}, {x}, {dy})[0], exact), 0.05) << name;
      } catch (const c10::Error& error) {
        ++thrown;
        EXPECT_THAT(error.what_without_backtrace(), HasSubstr("/nowhere")) << name;
      }
    }
    EXPECT_EQ(thrown, 1) << name;
    for (const Compressor::Site& site : compressor.sites())
      EXPECT_EQ(site.bytes_offloaded, 0) << name;
  }
}

}  // namespace fewbit::held_memory_test
