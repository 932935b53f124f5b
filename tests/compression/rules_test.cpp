// What is coded, in how many bits and by which codec: rules, the budget, options.

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "fewbit/fewbit.hpp"
#include "ops/layout.hpp"
#include "tests/support/compression_model.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/stored_as.hpp"

namespace fewbit::compression_rules_test {

using namespace test;

// From the second forward on: as many as asked for, more where an error weighs more.
TEST(CompressionRules, BitsAreTheAverageOverAllThatIsCoded) {
  for (const double bits : {1.0, 1.5, 2.0, 2.3, 3.0, 6.0}) {
    at::manual_seed(3);
    torch::nn::Sequential model;
    for (int i = 0; i < 10; ++i) model->push_back(torch::nn::Linear(kWidth, kWidth));
    Compressor compressor({.bits = bits, .group = 1024, .directions = 16});
    double elements = 0.0, stored = 0.0;
    for (int step = 0; step < 4; ++step) {
      {
        const CompressionScope scope(compressor);
        at::softmax(10.0 * model->forward(input()), 1).sum(1);
      }
      if (step == 0) continue;
      elements = stored = 0.0;
      for (const Compressor::Site& site : compressor.sites()) {
        elements += static_cast<double>(site.elements);
        stored += 8.0 * static_cast<double>(site.bytes_after);
      }
    }
    // Constants: 32 bits for 1,024 elements, and a seed; a short group is filled up when rotated.
    const double filled = 7168.0 / 6400.0;
    const double on_top = bits == 1.0 ? 0.25 : 0.0;  // of directions
    EXPECT_LE(stored / elements, bits * filled + on_top + (7 * 32 + 64) / 6400.0 + 1e-9) << bits;
    EXPECT_GE(stored / elements, bits - 1.0 / 10) << bits << '\n' << compressor.report();
    EXPECT_EQ(compressor.sites().back().operation, "aten::_softmax");
    if (bits >= 2.0) {
      EXPECT_GT(compressor.sites().back().bytes_after, compressor.sites()[0].bytes_after);
    }
  }
}

// A norm's input serves the convolution behind it, too, so that 1 bit of it is half a bit of both.
TEST(CompressionRules, AnAverageBelowOneIsOfRecomputedElements) {
  at::manual_seed(8);
  torch::nn::Sequential model;
  for (int i = 0; i < 3; ++i) {
    model->push_back(torch::nn::Conv2d(torch::nn::Conv2dOptions(16, 16, 3).padding(1)));
    model->push_back(torch::nn::BatchNorm2d(16));
    model->push_back(torch::nn::ReLU());
  }
  const at::Tensor x = at::randn({8, 16, 16, 16});
  int64_t kept[2] = {};
  for (const double bits : {1.0, 0.5}) {
    Compressor compressor({.bits = bits});
    for (int step = 0; step < 3; ++step) {
      const CompressionScope scope(compressor);
      model->forward(x).sum();
    }
    for (const Compressor::Site& site : compressor.sites()) {
      kept[bits < 1.0 ? 1 : 0] += site.bytes_after;
      if (bits < 1.0) {
        EXPECT_LE(site.stored.bits, 1.0) << compressor.report();
      }
    }
  }
  EXPECT_LT(static_cast<double>(kept[1]), 0.8 * static_cast<double>(kept[0]));
}

TEST(CompressionRules, LeavesAloneWhatItShould) {
  Compressor compressor({.bits = 1});
  const at::Tensor weight = at::randn({kWidth, kWidth}).requires_grad_();
  const at::Tensor frozen = at::randn({kWidth, kWidth});
  const at::Tensor x = input().requires_grad_();
  const CompressionScope scope(compressor);
  // Parameters, their views and casts; data without gradient; few elements.
  const at::Tensor h = x * 2.0;
  (at::mm(h.narrow(0, 0, 8), weight) + at::mm(input().narrow(0, 0, 8), weight.t())).sum();
  at::mm(at::ones({8, kWidth}).to(at::kBFloat16), weight.to(at::kBFloat16));
  at::mm(at::ones({8, kWidth}).requires_grad_(), frozen);
  {
    const at::NoGradGuard no_grad;
    at::mm(h, weight);
  }
  // But for a copy of the few, which would hold all of h.
  ASSERT_EQ(compressor.sites().size(), 1U) << compressor.report();
  EXPECT_THAT(compressor.sites()[0].stored, IsCoded("copy", 0));
}

TEST(CompressionRules, CopiesOfParametersAreExact) {
  at::manual_seed(5);
  const auto weight = [](int64_t rows, int64_t columns) {
    return at::randn({rows, columns}).requires_grad_();
  };
  const at::Tensor square = weight(kWidth, kWidth), half = weight(kWidth / 2, kWidth),
                   other = weight(kWidth / 2, kWidth), all = weight(3 * kWidth, kWidth);
  const struct {
    const char* name;
    std::function<at::Tensor()> copy;
  } cases[] = {
      {"clone", [&] { return square.clone(); }},
      {"contiguous", [&] { return square.t().contiguous(); }},
      {"cast, then cloned", [&] { return square.to(at::kDouble).clone().to(at::kFloat); }},
      {"cat",
       [&] {
         return at::cat({half, other});
       }},
      {"cat of parts",
       [&] {
         return at::cat({square.narrow(0, 0, 32), half.clone()}).t();
       }},
      {"stack",
       [&] {
         return at::stack({half, other}).view({kWidth, kWidth});
       }},
      {"repeat",
       [&] {
         return half.repeat({2, 1});
       }},
      {"unsafe_split", [&] { return at::unsafe_split(all, kWidth)[1]; }},
  };
  const at::Tensor x = input().requires_grad_();
  for (const auto& [name, copy] : cases) {
    Compressor compressor({.bits = 1});
    compressor.rule("aten::mm", Bits{1});
    const auto gradient = [&, &copy = copy](Compressor* in) {
      std::optional<CompressionScope> scope;
      if (in) scope.emplace(*in);
      return torch::autograd::grad({at::mm(x * 1.0, copy()).sum()}, {x})[0];
    };
    EXPECT_TRUE(at::equal(gradient(&compressor), gradient(nullptr))) << name;
    EXPECT_EQ(compressor.sites().size(), 1U) << name << '\n' << compressor.report();
    const bool is_view = std::string_view(name) == "unsafe_split";  // which takes no memory
    EXPECT_EQ(compressor.report().find("copies of parameters") == std::string::npos, is_view)
        << name;
  }
  // Of parameters and of what a layer gave.
  Compressor compressor({.bits = 1});
  {
    const CompressionScope scope(compressor);
    at::mm(x * 1.0, at::cat({half, at::mm(other, square)}));
  }
  EXPECT_EQ(compressor.sites().size(), 2U) << compressor.report();
}

TEST(CompressionRules, RulesAreForOperations) {
  Compressor compressor({.bits = 2});
  compressor.rule("aten::mm", Bits{5}).leave_alone("aten::native_layer_norm");
  compressor.rule("aten::addmm", Bits{4});
  auto model = mlp();
  gradients(model, input(), &compressor);
  ASSERT_EQ(coded_sites(compressor).size(), 1U) << compressor.report();
  EXPECT_THAT(coded_sites(compressor)[0].stored, IsCoded("rotated by class", 4));
}

TEST(CompressionRules, RulesAreForNamedParameters) {
  torch::nn::Sequential model;
  for (int i = 0; i < 3; ++i) model->push_back(torch::nn::Linear(kWidth, kWidth));
  Compressor compressor({.bits = 2});
  compressor.name(model->named_parameters());
  compressor.rule("*.weight", Bits{5}).rule("1.*", Bits{7}).leave_alone("2.we*t");
  const at::Tensor x = input().requires_grad_();
  gradients(model, x * 1.0, &compressor);
  const auto sites = compressor.sites();
  ASSERT_EQ(sites.size(), 2U) << compressor.report();
  EXPECT_EQ(sites[0].module, "0");
  EXPECT_THAT(sites[0].stored, IsCoded("rotated", 5));
  EXPECT_EQ(sites[1].module, "1");
  EXPECT_THAT(sites[1].stored, IsCoded("rotated", 7));
}

TEST(CompressionRules, WhatTakesNoParameterIsNamedByWhoRunsTheModel) {
  torch::nn::Sequential model(torch::nn::Linear(kWidth, kWidth));
  Compressor compressor({.bits = 2});
  compressor.name(model->named_parameters());
  std::string running;
  int times_asked = 0;
  compressor.name_by([&] {
    ++times_asked;
    return running;
  });
  const auto step = [&] {
    const CompressionScope scope(compressor);
    const at::Tensor x = input().requires_grad_() * 1.0;
    running = "encoder.product";
    const at::Tensor product = x * (x + 1.0);
    running = "";
    return model->forward(product).sum();
  };
  const auto modules = [&] {
    std::multiset<std::string> names;
    for (const Compressor::Site& site : compressor.sites()) names.insert(site.module);
    return names;
  };
  const std::multiset<std::string> expected = {"encoder.product", "encoder.product", "0"};
  step();
  EXPECT_EQ(modules(), expected) << compressor.report();
  EXPECT_EQ(times_asked, 2);
  compressor.name_by(nullptr);
  step();
  EXPECT_EQ(modules(), expected) << compressor.report();
  EXPECT_EQ(times_asked, 2);
}

TEST(CompressionRules, RulesMayComeLater) {
  auto model = mlp();
  Compressor compressor({.bits = 2});
  gradients(model, input(), &compressor);
  compressor.rule("aten::addmm", Bits{6});
  for (int step = 0; step < 2; ++step) {
    gradients(model, input(), &compressor);
    EXPECT_THAT(coded_sites(compressor).at(1).stored, IsCoded("rotated by class", 6));
  }
  compressor.rule("aten::addmm", Bits{4});
  for (int step = 0; step < 2; ++step) {
    gradients(model, input(), &compressor);
    EXPECT_THAT(coded_sites(compressor).at(1).stored, IsCoded("rotated by class", 4));
  }
}

TEST(CompressionRules, RulesMayCast) {
  auto model = mlp();
  Compressor compressor({.bits = 2});
  const struct {
    at::ScalarType type;
    const char* codec;
    double error;
  } cases[] = {{at::kFloat8_e4m3fn, "cast, fp8 e4m3", 1.2e-3},
               {at::kFloat8_e5m2, "cast, fp8 e5m2", 5e-3},
               {at::kBFloat16, "cast, bf16", 5e-6}};
  for (const auto& [type, codec, error] : cases) {
    compressor.rule("aten::addmm", type);
    for (int step = 0; step < 2; ++step) {
      gradients(model, input(), &compressor);
      const Compressor::Site site = coded_sites(compressor).at(1);
      EXPECT_THAT(site.stored, IsCoded(codec, 0));
      EXPECT_EQ(site.bytes_after, site.elements * (type == at::kBFloat16 ? 2 : 1));
      EXPECT_GT(site.error, 0.1 * error);
      EXPECT_LT(site.error, error);
      EXPECT_THAT(coded_sites(compressor).at(0).stored, IsCoded("normalised", 2));
    }
  }
  compressor.rule("aten::addmm", Bits{3});
  gradients(model, input(), &compressor);
  gradients(model, input(), &compressor);
  EXPECT_THAT(coded_sites(compressor).at(1).stored, IsCoded("rotated by class", 3));
  EXPECT_EQ(test::refusal([&] { compressor.rule("*", at::kHalf); }),
            "fewbit::Compressor: a rule's type is Half, accepted: BFloat16, Float8_e4m3fn, "
            "Float8_e5m2");
  // Nothing smaller comes of these.
  Compressor narrow({.bits = 2});
  narrow.rule("*", at::kBFloat16);
  auto doubles = mlp();
  doubles->to(at::kDouble);
  gradients(doubles, input().to(at::kDouble), &narrow);
  EXPECT_TRUE(narrow.sites().empty()) << narrow.report();
}

TEST(CompressionRules, RulesMayNameManyOperations) {
  torch::nn::Sequential model{torch::nn::Linear(kWidth, kWidth), torch::nn::Linear(kWidth, kWidth)};
  Compressor compressor({.bits = 2});
  compressor.rule("aten::*", Bits{8}).rule("*add*m", Bits{3});
  const at::Tensor x = input().requires_grad_();
  gradients(model, x * 1.0, &compressor);
  ASSERT_EQ(compressor.sites().size(), 3U);  // and the loss's square
  for (const Compressor::Site& site : compressor.sites()) {
    EXPECT_THAT(site.stored, IsCoded("rotated", site.operation == "aten::addmm" ? 3 : 8));
    EXPECT_EQ(site.module, "");
  }
}

TEST(CompressionRules, TorchsOwnAttentionAndSoftmaxMayBeAskedFor) {
  const at::Tensor x = at::randn({2, 4, 32, 16}).requires_grad_();
  const auto run = [&](Compressor& compressor) {
    const CompressionScope scope(compressor);
    const at::Tensor y = at::scaled_dot_product_attention(x * 1.0, x * 2.0, x * 3.0);
    return at::log_softmax(y, 3).grad_fn()->name();
  };
  Compressor ours, torchs;
  torchs.leave_alone("aten::scaled_*").leave_alone("aten::_log_softmax");
  EXPECT_NE(run(ours).find("fewbit"), std::string::npos);
  EXPECT_EQ(run(torchs), "LogSoftmaxBackward0");
  EXPECT_EQ(ours.sites().size(), 4U) << ours.report();
  EXPECT_TRUE(torchs.sites().empty()) << torchs.report();
}

TEST(CompressionRules, AttentionWithDropoutKeepsItsInputsAlone) {
  const auto gradient = [](Compressor* compressor) {
    at::manual_seed(3);
    const at::Tensor x = at::randn({2, 4, 64, 16}).requires_grad_();
    std::optional<CompressionScope> scope;
    if (compressor) scope.emplace(*compressor);
    const at::Tensor y =
        at::scaled_dot_product_attention(x * 1.0, x * 2.0, x * 3.0, std::nullopt, 0.3);
    scope.reset();
    at::rand({10});
    return std::pair(y, torch::autograd::grad({y.square().sum()}, {x})[0]);
  };
  Compressor compressor({.bits = 8});
  const auto [y, dx] = gradient(&compressor);
  const auto [exact_y, exact_dx] = gradient(nullptr);
  EXPECT_TRUE(at::equal(y, exact_y));
  EXPECT_LT((dx - exact_dx).norm().item<double>(), 0.01 * exact_dx.norm().item<double>());
  ASSERT_EQ(compressor.sites().size(), 3U) << compressor.report();
  for (const Compressor::Site& site : compressor.sites()) {
    EXPECT_EQ(site.operation, "fewbit::attention");
  }
}

TEST(CompressionRules, LayersKeepOneCopyOfOneMask) {
  at::manual_seed(4);
  const at::Tensor x = at::randn({2, 4, 64, 16}).requires_grad_();
  const int64_t elements = int64_t{64} * 64;
  const auto kept = [&](const std::vector<at::Tensor>& masks, bool changes = false) {
    Compressor compressor({.bits = 8});
    SavedBytes meter;
    const auto run = [&](Compressor* in) {
      const auto watch = meter.watch();
      std::optional<CompressionScope> scope;
      if (in) scope.emplace(*in);
      at::Tensor y = x * 1.0;
      for (const at::Tensor& mask : masks) {
        y = at::scaled_dot_product_attention(y, y, y, mask);
        if (changes) at::Tensor(mask.data()).copy_(mask.logical_not());
      }
      return y;
    };
    const at::Tensor y = run(&compressor);
    double bytes = static_cast<double>(meter.unique_bytes());
    for (const Compressor::Site& site : compressor.sites()) {
      bytes -= static_cast<double>(site.bytes_after);
    }
    if (!changes) {
      const at::Tensor exact = torch::autograd::grad({run(nullptr).square().sum()}, {x})[0];
      for (const at::Tensor& mask : masks) ops::unexpanded(mask).zero_();
      const at::Tensor dx = torch::autograd::grad({y.square().sum()}, {x})[0];
      EXPECT_LT(distance(dx, exact), 0.05);
    }
    return bytes;
  };
  const auto of_bool = [] { return at::rand({64, 64}) > 0.3; };
  constexpr double kSeed = 64;  // which sites share
  const at::Tensor one = of_bool();
  EXPECT_NEAR(kept({one, one, one}), elements / 8.0, kSeed);
  EXPECT_NEAR(kept({of_bool(), of_bool()}), 2 * elements / 8.0, kSeed);
  const at::Tensor numbers = at::randn({64, 64});
  const at::Tensor expanded = at::randn({64, 64}).expand({2, 4, 64, 64});
  EXPECT_NEAR(kept({numbers, numbers, numbers.clone()}), 2 * elements * 4.0, kSeed);
  EXPECT_NEAR(kept({expanded, expanded}), elements * 4.0, kSeed);
  const at::Tensor moving = of_bool();
  EXPECT_NEAR(kept({moving, moving}, true), 2 * elements / 8.0, kSeed);
}

/// How what one product keeps is stored, after a measurement.
StoredAs stored_of(const at::Tensor& x, double bits) {
  Compressor compressor({.bits = bits});
  const at::Tensor weight = at::ones_like(x).requires_grad_();
  for (int step = 0; step < 2; ++step) {
    const CompressionScope scope(compressor);
    const at::Tensor y = (x.detach().requires_grad_() * 1.0) * weight;
  }
  return coded_sites(compressor).at(0).stored;
}

TEST(CompressionRules, TakesTheCodecThatErrsLess) {
  at::Tensor x = at::randn({64, 256});
  EXPECT_THAT(stored_of(x, 1), IsCoded("rotated", 1));
  x.select(1, 7).fill_(30.0);
  EXPECT_THAT(stored_of(x, 1), IsCoded("rotated", 1));
  EXPECT_THAT(stored_of(x.sign(), 1), IsCoded("group", 1));  // two values, which are its levels
}

// A norm's gradient knows nothing of the mean of its input, so neither do its bits.
TEST(CompressionRules, AMeanBuysANormNoFewerBits) {
  for (const double mean : {0.0, 10.0, 30.0}) {
    const at::Tensor x = input().requires_grad_();
    const at::Tensor weight = at::randn({kWidth, kWidth}).requires_grad_();
    const at::Tensor scale = at::ones({kWidth}).requires_grad_();
    Compressor compressor({.bits = 3});
    for (int step = 0; step < 3; ++step) {
      const CompressionScope scope(compressor);
      const at::Tensor normed = at::layer_norm(x * 1.0 + mean, {kWidth}, scale);
      const at::Tensor y = at::mm(x * 2.0, weight) + normed;
    }
    ASSERT_EQ(compressor.sites().size(), 2U);
    for (const Compressor::Site& site : compressor.sites()) {
      EXPECT_THAT(site.stored, IsCoded("rotated", 3)) << mean << '\n' << compressor.report();
    }
  }
}

TEST(CompressionRules, ASmallBatchMovesNoSites) {
  const at::Tensor narrow = at::randn({4, kWidth}).requires_grad_();
  const at::Tensor wide = at::randn({kWidth, kWidth}).requires_grad_();
  Compressor compressor({.bits = 2});
  for (const int64_t batch : {512, 200}) {
    const at::Tensor x = at::randn({batch, kWidth}).requires_grad_();
    const CompressionScope scope(compressor);
    const at::Tensor first = at::mm(x.narrow(1, 0, 4) * 1.0, narrow);
    const at::Tensor second = at::mm(x * 2.0, wide);
  }
  const auto sites = compressor.sites();
  ASSERT_EQ(sites.size(), 2U);
  EXPECT_EQ(sites[0].elements, 512 * 4);
  EXPECT_EQ(sites[1].elements, 200 * kWidth);
}

TEST(CompressionRules, RefusesOptionsByName) {
  EXPECT_THROW(Compressor({.bits = 0.4}), c10::Error);
  EXPECT_THROW(Compressor({.bits = 0.9, .scheme = Scheme::group}), c10::Error);
  EXPECT_THROW(Compressor({.bits = 9}), c10::Error);
  EXPECT_THROW(Compressor({.activation_bits = 0}), c10::Error);
  EXPECT_THROW(Compressor({.group = 100}), c10::Error);
  EXPECT_THROW(Compressor().rule("aten::mm", Bits{9}), c10::Error);
}

}  // namespace fewbit::compression_rules_test
