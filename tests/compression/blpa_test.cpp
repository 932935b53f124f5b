// The scheme of BLPA on unchanged networks.
#include <gtest/gtest.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>

#include "fewbit/fewbit.hpp"
#include "tests/support/compression_model.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/stored_as.hpp"

namespace fewbit::blpa_test {

using namespace test;
using torch::autograd::grad;

torch::nn::Conv2d convolution(int64_t from, int64_t to) {
  return torch::nn::Conv2d(torch::nn::Conv2dOptions(from, to, 3).padding(1));
}

/// Convolution, norm, ReLU, convolution, norm, ReLU, convolution.
struct Network {
  torch::nn::Conv2d first = convolution(3, 16), second = convolution(16, 16),
                    third = convolution(16, 4);
  torch::nn::BatchNorm2d norm{16}, other{16};

  Network() {
    at::manual_seed(7);
    const at::NoGradGuard no_grad;
    norm->weight.normal_();  // of both signs
    norm->bias.normal_();
    other->weight.normal_();
  }

  struct Run {
    at::Tensor outputs, of_norm, of_relu;
    at::Tensor loss() const { return at::mse_loss(outputs, at::ones_like(outputs)); }
  };

  Run run(const at::Tensor& x, Compressor* compressor) {
    std::optional<CompressionScope> scope;
    if (compressor != nullptr) scope.emplace(*compressor);
    Run run;
    run.of_norm = norm(first(x));
    run.of_relu = at::relu(run.of_norm);
    run.outputs = third(at::relu(other(second(run.of_relu))));
    return run;
  }
};

at::Tensor images() {
  at::manual_seed(8);
  return at::randn({16, 3, 12, 12});
}

CompressorOptions with_bits(double bits) {
  return {.bits = bits, .scheme = Scheme::blpa};
}

TEST(Blpa, OneTensorServesNormReluAndConvolution) {
  Network network;
  for (const int bits : {2, 4, 8}) {
    Compressor compressor(with_bits(bits));
    for (int step = 0; step < 3; ++step) network.run(images(), &compressor);
    const auto sites = compressor.sites();
    ASSERT_GE(sites.size(), 6U) << compressor.report();
    const int64_t elements = 16 * 16 * 12 * 12;
    for (const size_t i : {0U, 3U}) {
      EXPECT_THAT(sites[i].stored, IsCoded("fixed point", bits));
      EXPECT_EQ(sites[i].bytes_after, elements * bits / 8 + 4 * 16 * 4);
      EXPECT_THAT(sites[i + 1].stored, IsRecomputed("sign of norm"));
      EXPECT_EQ(sites[i + 1].bytes_after, 2 * 16 * 4);  // the norm's parameters, for both
      EXPECT_THAT(sites[i + 2].stored, IsRecomputed("relu of norm"));
      EXPECT_EQ(sites[i + 2].bytes_after, 0);
    }
  }
}

TEST(Blpa, ForwardIsExact) {
  Network network;
  Compressor compressor(with_bits(2));
  for (int step = 0; step < 2; ++step) {
    EXPECT_TRUE(at::equal(network.run(images(), &compressor).outputs,
                          network.run(images(), nullptr).outputs));
  }
}

// Of the last norm and what is behind it. What its own input's gradient has of the variance is not.
TEST(Blpa, GradientsThroughConvolutionAndReluAreExactAndThatOfTheBiasToo) {
  Network network;
  const std::vector<at::Tensor> of = {network.third->bias, network.other->bias,
                                      network.other->weight, network.third->weight,
                                      network.first->weight};
  const std::vector<at::Tensor> wanted = grad({network.run(images(), nullptr).loss()}, of);
  // The root of the mean square of several draws, of all that the codes change.
  const auto error = [&](int bits) {
    Compressor compressor(with_bits(bits));
    const int draws = 16;
    double squares = 0.0;
    for (int draw = 0; draw < draws; ++draw) {
      const Network::Run coded = network.run(images(), &compressor);
      const std::vector<at::Tensor> seen = grad({coded.loss()}, of);
      EXPECT_TRUE(at::equal(seen[0], wanted[0]));
      EXPECT_LT(distance(seen[1], wanted[1]), 1e-6);
      for (size_t i = 2; i < 5; ++i) squares += std::pow(distance(seen[i], wanted[i]), 2.0);
    }
    return std::sqrt(squares / (3.0 * draws));
  };
  const double at_2 = error(2), at_4 = error(4), at_8 = error(8);
  EXPECT_LT(at_2, 0.6);
  EXPECT_LT(at_4, 0.35 * at_2);
  EXPECT_LT(at_8, 0.75 * at_4);  // what is beyond the range is left
  EXPECT_LT(at_8, 0.05);
  EXPECT_GT(at_8, 1e-4);
}

// Exact for any gradient that comes to the layer behind: that of its input, through the ReLU.
TEST(Blpa, TheGradientOfAnOutputOfANormIsExact) {
  Network network;
  const auto gradient = [&](Compressor* compressor) {
    std::optional<CompressionScope> scope;
    if (compressor != nullptr) scope.emplace(*compressor);
    const at::Tensor y = network.norm(network.first(images()));
    const at::Tensor z = network.second(at::relu(y));
    return grad({z}, {y}, {at::ones_like(z)})[0];
  };
  Compressor compressor(with_bits(2));
  EXPECT_TRUE(at::equal(gradient(&compressor), gradient(nullptr)));
}

/// The gradients of all parameters of the model and of x, near the exact ones in 8 bits.
template <class Model>
std::vector<Compressor::Site> sites_of(Model& model, at::IntArrayRef sizes) {
  at::manual_seed(9);
  const at::Tensor x = at::randn(sizes).requires_grad_();
  const at::Tensor toward = at::randn(sizes);
  const auto loss = [&] { return at::sum(model->forward(x * 1.0) * toward); };
  std::vector<at::Tensor> of = model->parameters();
  of.push_back(x);
  const at::Tensor exact = flat(grad({loss()}, of));
  Compressor compressor(with_bits(8));
  at::Tensor coded;
  {
    const CompressionScope scope(compressor);
    coded = loss();
  }
  EXPECT_LT(distance(flat(grad({coded}, of)), exact), 0.05) << compressor.report();
  return compressor.sites();
}

TEST(Blpa, TakesNormsOfBatchesLayersAndGroups) {
  torch::nn::BatchNorm2d batch(8), plain(torch::nn::BatchNorm2dOptions(8).affine(false));
  torch::nn::LayerNorm layer(torch::nn::LayerNormOptions({6, 5}));
  torch::nn::GroupNorm group(torch::nn::GroupNormOptions(2, 8));
  for (const auto& sites : {sites_of(batch, {16, 8, 6, 5}), sites_of(plain, {16, 8, 6, 5}),
                            sites_of(layer, {16, 8, 6, 5}), sites_of(group, {16, 8, 6, 5})}) {
    EXPECT_THAT(sites.at(0).stored, IsCoded("fixed point", 8));
  }
  torch::nn::BatchNorm1d rows(64);
  EXPECT_THAT(sites_of(rows, {100, 64}).at(0).stored, IsCoded("fixed point", 8));
}

// By its running statistics a norm makes anything of its input.
TEST(Blpa, LeavesNormsInEvaluationToGroups) {
  torch::nn::BatchNorm2d norm(8);
  norm->eval();
  EXPECT_THAT(sites_of(norm, {16, 8, 6, 5}).at(0).stored, IsCoded("group", 8));
  Compressor compressor(with_bits(4));
  const at::Tensor x = at::randn({16, 8, 6, 5}).requires_grad_();
  for (const bool is_training : {true, false, true}) {
    norm->train(is_training);
    const CompressionScope scope(compressor);
    norm(x * 1.0);
  }
  EXPECT_THAT(compressor.sites().at(0).stored, IsCoded("fixed point", 4));
}

TEST(Blpa, TakesNormsWhoseWeightsAreZero) {
  torch::nn::BatchNorm2d norm(8);
  torch::nn::init::zeros_(norm->weight);
  EXPECT_THAT(sites_of(norm, {16, 8, 6, 5}).at(0).stored, IsCoded("fixed point", 8));
}

TEST(Blpa, GroupsWhatIsNoNormsInput) {
  auto model = mlp();
  Compressor compressor(with_bits(4));
  for (int step = 0; step < 2; ++step) gradients(model, input(), &compressor);
  const std::vector<Compressor::Site> sites = coded_sites(compressor);
  ASSERT_EQ(sites.size(), 2U);
  EXPECT_THAT(sites[0].stored, IsCoded("fixed point", 4));
  EXPECT_THAT(sites[1].stored, IsCoded("group", 4));
}

TEST(Blpa, GoesOnFromAFileBitForBit) {
  const std::string path = testing::TempDir() + "/blpa.txt";
  auto model = mlp();
  Compressor whole(with_bits(2)), resumed(with_bits(2));
  gradients(model, input(), &whole);
  whole.save(path);
  resumed.load(path);
  EXPECT_EQ(test::places_of(resumed), test::places_of(whole));
  at::manual_seed(10);
  const at::Tensor expected = gradients(model, input(), &whole);
  at::manual_seed(10);
  EXPECT_TRUE(at::equal(gradients(model, input(), &resumed), expected));
}

TEST(Blpa, RefusesOtherBits) {
  for (const auto& [bits, text] :
       {std::pair(3.5, "3.5"), std::pair(3.0, "3"), std::pair(1.0, "1")}) {
    EXPECT_EQ(test::refusal([&, given = bits] { Compressor compressor(with_bits(given)); }),
              "fewbit::Compressor: bits is " + std::string(text) +
                  ", accepted in the scheme blpa: 2, 4, 8");
  }
}

}  // namespace fewbit::blpa_test
