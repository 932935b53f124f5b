// Which activations keep few-bit derivatives in a compressor's scopes, and in how many bits.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fewbit/fewbit.hpp"
#include "tests/support/autograd_node.hpp"
#include "tests/support/compression_model.hpp"

namespace fewbit::compression_activation_test {

using namespace test;

Compressor::Site activation_of(const Compressor& compressor) {
  for (const Compressor::Site& site : compressor.sites()) {
    if (site.operation == "fewbit::activation") return site;
  }
  ADD_FAILURE() << compressor.report();
  return {};
}

double bits_of(const Compressor::Site& site) {
  return 8.0 * static_cast<double>(site.bytes_after) / static_cast<double>(site.elements);
}

// A table errs a sixteenth of what other codes do, or less.
TEST(CompressionActivation, BitsFollowThoseOfOtherCodes) {
  auto model = mlp();
  const struct {
    double average;
    double bits;
  } cases[] = {{1, 2}, {2, 3}, {3, 4}, {4, 5}, {8, 8}};
  for (const auto& [average, bits] : cases) {
    Compressor compressor({.bits = average});
    for (int step = 0; step < 3; ++step) {
      gradients(model, input(), &compressor);
      EXPECT_EQ(bits_of(activation_of(compressor)), bits) << average;
    }
  }
  Compressor given({.bits = 8, .activation_bits = 2});
  gradients(model, input(), &given);
  EXPECT_EQ(bits_of(activation_of(given)), 2);
}

// A call of ours costs more than what so few elements take.
TEST(CompressionActivation, OfFewElementsIsLibtorchsOwn) {
  for (const int64_t elements : {1023, 1024}) {
    at::manual_seed(3);
    const at::Tensor x = at::randn({elements}).requires_grad_();
    const at::Tensor exact = torch::autograd::grad({at::gelu(x).sum()}, {x})[0];
    Compressor compressor({.bits = 1});
    const auto scoped = [&] {
      const CompressionScope scope(compressor);
      return at::gelu(x * 1.0).sum();
    };
    const at::Tensor found = torch::autograd::grad({scoped()}, {x})[0];
    EXPECT_EQ(at::equal(found, exact), elements < 1024) << compressor.report();
  }
}

TEST(CompressionActivation, EightBitsLeaveTheGradientNearlyExact) {
  auto model = mlp();
  const at::Tensor exact = gradients(model, input(), nullptr);
  Compressor compressor({.bits = 8});
  EXPECT_LT(distance(gradients(model, input(), &compressor), exact), 0.008);
}

TEST(CompressionActivation, ASiteSaysWhatItsTableErrs) {
  auto model = mlp();
  Compressor compressor({.bits = 2});
  gradients(model, input(), &compressor);
  const at::Tensor x = at::randn({1 << 16}).requires_grad_();
  const at::Tensor exact = torch::autograd::grad({at::gelu(x).sum()}, {x})[0];
  const at::Tensor table = torch::autograd::grad({gelu(x, Bits{3}).sum()}, {x})[0];
  const double error = std::pow(distance(table, exact), 2.0);
  EXPECT_NEAR(activation_of(compressor).error / error, 1.0, 0.05);
}

/// The nodes that silu's and sigmoid's outputs come of, behind a layer "block.first".
std::vector<bool> few_bit_behind_a_layer(const std::function<void(Compressor&)>& configure) {
  at::manual_seed(3);
  const at::Tensor weight = at::randn({kWidth, kWidth}).requires_grad_();
  torch::OrderedDict<std::string, at::Tensor> names;
  names.insert("block.first.weight", weight);
  Compressor compressor({.bits = 2});
  compressor.name(names);
  configure(compressor);
  const CompressionScope scope(compressor);
  const at::Tensor h = at::mm(input().requires_grad_() * 1.0, weight);
  return {is_few_bit(at::silu(h)), is_few_bit(at::sigmoid(h))};
}

TEST(CompressionActivation, RulesNameThemByOperationFunctionAliasAndModule) {
  using Few = std::vector<bool>;
  const auto few = few_bit_behind_a_layer;
  EXPECT_EQ(few([](Compressor& /*c*/) {}), Few({true, false}));
  for (const char* name :
       {"silu", "swish", "aten::silu", "fewbit::activation", "block.silu", "block.*", "*", "si*"}) {
    EXPECT_EQ(few([&](Compressor& c) { c.leave_alone(name); }), Few({false, false})) << name;
    EXPECT_EQ(few([&](Compressor& c) { c.leave_alone("*").rule(name, Bits{4}); })[0], true) << name;
  }
  for (const char* name : {"sigmoid", "aten::sigmoid", "block.sigmoid"}) {
    EXPECT_EQ(few([&](Compressor& c) { c.rule(name, Bits{4}); }), Few({true, true})) << name;
  }
  for (const char* name : {"block.first.*", "gelu", "block"}) {
    EXPECT_EQ(few([&](Compressor& c) { c.leave_alone(name); }), Few({true, false})) << name;
  }
  for (const char* name :
       {"*", "block.*", "sig*", "fewbit::activation"}) {  // which do not ask for it in full
    EXPECT_EQ(few([&](Compressor& c) { c.rule(name, Bits{4}); }), Few({true, false})) << name;
  }
  EXPECT_EQ(few([](Compressor& c) { c.rule("silu", at::kBFloat16); }), Few({false, false}));
}

TEST(CompressionActivation, ACastIsOfWhatLibtorchKeeps) {
  for (const char* name : {"silu", "fewbit::activation", "*"}) {
    Compressor compressor({.bits = 2});
    compressor.rule(name, at::kBFloat16);
    const at::Tensor x = at::randn({100, kWidth}).requires_grad_();
    at::Tensor y;
    {
      const CompressionScope scope(compressor);
      y = at::silu(x * 1.0);
    }
    const auto sites = compressor.sites();
    ASSERT_EQ(sites.size(), 1U) << compressor.report();
    EXPECT_EQ(sites[0].operation, "aten::silu");
    EXPECT_EQ(sites[0].bytes_after, x.numel() * 2);
  }
}

TEST(CompressionActivation, RulesMeanTheFormsInPlaceToo) {
  Compressor compressor({.bits = 2});
  compressor.leave_alone("aten::silu").leave_alone("gelu");
  const at::Tensor x = at::randn({100, kWidth}).requires_grad_();
  const CompressionScope scope(compressor);
  at::Tensor one = x * 1.0, other = x * 1.0;
  EXPECT_FALSE(is_few_bit(at::silu_(one)));
  EXPECT_FALSE(is_few_bit(at::gelu_(other)));
}

// Whatever is due when a file is written is done by whoever reads it.
TEST(CompressionActivation, ASplitThatIsDueGoesIntoTheFile) {
  const std::string path = testing::TempDir() + "/fewbit_due.txt";
  for (const Scheme scheme : {Scheme::rotated, Scheme::actnn, Scheme::gact}) {
    for (int saved = 1; saved < 5; ++saved) {
      auto model = mlp();
      const CompressorOptions options{.bits = 2.5, .scheme = scheme};
      Compressor whole(options), resumed(options);
      at::manual_seed(4);
      const at::Tensor x = input() * 1.0 + 2.0;
      {
        const at::NoGradGuard no_grad;
        model->parameters()[0].zero_();  // a layer whose output is 0 or a bias
        model->parameters()[1].zero_();
      }
      for (int step = 0; step < saved; ++step) gradients(model, x, &whole);
      whole.save(path);
      resumed.load(path);
      for (int step = 0; step < 3; ++step) {
        const at::Tensor expected = gradients(model, x, &whole);
        EXPECT_TRUE(at::equal(gradients(model, x, &resumed), expected))
            << static_cast<int>(scheme) << " saved after " << saved << ", step " << step;
      }
    }
  }
}

}  // namespace fewbit::compression_activation_test
