// Tensors that leave memory as they are, where a rule says so.
#include <gtest/gtest.h>

#include "fewbit/fewbit.hpp"
#include "tests/support/compression_model.hpp"
#include "tests/support/stored_as.hpp"

namespace fewbit::offload_exact_test {

using namespace test;
using torch::autograd::grad;

/// Layers with norms, ReLU and attention: nothing that an ActivationScope would round.
struct Model {
  std::vector<at::Tensor> weights;
  at::Tensor x;

  explicit Model(int64_t batch = 64) {
    for (int i = 0; i < 3; ++i) {
      weights.push_back((at::randn({kWidth, kWidth}) / 8).requires_grad_());
    }
    x = at::randn({2, batch, kWidth});
  }

  at::Tensor loss() const {
    at::Tensor h = at::relu(at::linear(at::layer_norm(x * 1.0, {kWidth}), weights[0]));
    const at::Tensor values = at::linear(h, weights[1]);
    h = at::scaled_dot_product_attention(h, h, values) + h;
    return at::linear(h, weights[2]).square().mean();
  }

  at::Tensor gradient(Compressor* compressor) const {
    at::Tensor value;
    {
      std::optional<CompressionScope> scope;
      if (compressor != nullptr) scope.emplace(*compressor);
      value = loss();
    }
    return flat(grad({value}, weights));
  }
};

TEST(OffloadExact, GradientsAreExact) {
  const Model model;
  Compressor compressor({.bits = 1});
  compressor.offload_exact("*");
  const at::Tensor exact = model.gradient(nullptr);
  for (int step = 0; step < 3; ++step) {
    EXPECT_LT(distance(model.gradient(&compressor), exact), 1e-6) << compressor.report();
  }
  int64_t away = 0;
  for (const Compressor::Site& site : compressor.sites()) {
    if (site.bytes_offloaded == 0) continue;
    EXPECT_EQ(site.stored.storage, Storage::offloaded) << compressor.report();
    EXPECT_EQ(site.bytes_offloaded, site.bytes_before);
    EXPECT_EQ(site.error, 0.0);
    away += site.bytes_offloaded;
  }
  EXPECT_GE(away, 4 * model.x.nbytes()) << compressor.report();
}

TEST(OffloadExact, TheMeterCountsWhatStays) {
  const Model model(512);
  const auto kept = [&](Compressor& compressor) {
    SavedBytes meter;
    const auto watch = meter.watch();
    const CompressionScope scope(compressor);
    const at::Tensor loss = model.loss();
    return meter.unique_bytes();
  };
  Compressor offloading({.bits = 2}), exact({.bits = 2});
  offloading.offload_exact("*");
  exact.leave_alone("*");
  int64_t away = 0;
  const int64_t stays = kept(offloading);
  for (const Compressor::Site& site : offloading.sites()) away += site.bytes_offloaded;
  EXPECT_LT(stays, kept(exact) / 4) << offloading.report();
  EXPECT_EQ(away, 4 * static_cast<int64_t>(model.x.nbytes())) << offloading.report();
}

// Beside others, which are coded and stay.
TEST(OffloadExact, HoldsForWhatARuleNames) {
  const Model model;
  Compressor compressor({.bits = 2});
  torch::OrderedDict<std::string, at::Tensor> names;
  for (size_t i = 0; i < model.weights.size(); ++i) {
    names.insert("layer" + std::to_string(i) + ".weight", model.weights[i]);
  }
  compressor.name(names).offload_exact("layer2.*");
  for (int step = 0; step < 2; ++step) model.gradient(&compressor);
  for (const Compressor::Site& site : compressor.sites()) {
    EXPECT_EQ(site.bytes_offloaded > 0, site.module == "layer2") << compressor.report();
  }
  compressor.rule("layer2.*", Bits{4});
  model.gradient(&compressor);
  for (const Compressor::Site& site : compressor.sites()) {
    EXPECT_EQ(site.bytes_offloaded, 0) << compressor.report();
    EXPECT_EQ(testing::Value(site.stored, IsCoded("rotated", 4)), site.module == "layer2")
        << compressor.report();
  }
}

// As those are that the rules do not know.
TEST(OffloadExact, HoldsForOperationsThatAreLeftAlone) {
  const at::Tensor x = at::randn({64, kWidth}).requires_grad_();
  const auto gradient = [&](Compressor* compressor) {
    at::Tensor loss;
    {
      std::optional<CompressionScope> scope;
      if (compressor != nullptr) scope.emplace(*compressor);
      loss = at::atan2(x * 1.0, x * 2.0 + 1.0).sum();
    }
    return grad({loss}, {x})[0];
  };
  Compressor compressor({.bits = 2});
  compressor.offload_exact("aten::atan2");
  EXPECT_TRUE(at::equal(gradient(&compressor), gradient(nullptr)));
  ASSERT_EQ(compressor.sites().size(), 2U) << compressor.report();
  for (const Compressor::Site& site : compressor.sites()) {
    EXPECT_EQ(site.bytes_after, 0);
    EXPECT_EQ(site.bytes_offloaded, x.nbytes());
  }
}

// What left is what was saved.
TEST(OffloadExact, ChangesInPlaceHarmNothing) {
  const at::Tensor weight = at::randn({kWidth, kWidth}).requires_grad_();
  const at::Tensor x = at::randn({64, kWidth}).requires_grad_();
  Compressor compressor({.bits = 2});
  compressor.offload_exact("*");
  at::Tensor h = x * 1.0;
  at::Tensor loss;
  {
    const CompressionScope scope(compressor);
    loss = at::mm(h, weight).sum();
  }
  {
    const at::NoGradGuard no_grad;
    h.zero_();
  }
  const at::Tensor expected = at::mm(x.detach().t(), at::ones({64, kWidth}));
  EXPECT_LT(distance(grad({loss}, {weight})[0], expected), 1e-6);
}

}  // namespace fewbit::offload_exact_test
