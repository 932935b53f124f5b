// The scheme of DIVISION on unchanged networks.
#include <gtest/gtest.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>

#include "fewbit/fewbit.hpp"
#include "tests/support/compression_model.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/stored_as.hpp"

namespace fewbit::division_test {

using namespace test;

torch::nn::Sequential network() {
  at::manual_seed(3);
  return torch::nn::Sequential(torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 16, 3).padding(1)),
                               torch::nn::BatchNorm2d(16), torch::nn::ReLU(),
                               torch::nn::Conv2d(torch::nn::Conv2dOptions(16, 8, 3).padding(1)),
                               torch::nn::Flatten(), torch::nn::Linear(8 * 16 * 16, kWidth),
                               torch::nn::Linear(kWidth, kWidth));
}

at::Tensor images() {
  at::manual_seed(4);
  return at::randn({32, 3, 16, 16});
}

// Maps are split, what has none is grouped, and every place has as many bits as were asked for.
TEST(Division, SplitsMapsAndGroupsOthersInTheSameBits) {
  auto model = network();
  Compressor compressor({.bits = 2, .scheme = Scheme::division});
  for (int step = 0; step < 4; ++step) gradients(model, images(), &compressor);
  std::vector<StoredAs> stored;
  for (const Compressor::Site& site : coded_sites(compressor)) {
    stored.push_back(site.stored);
    EXPECT_GT(site.error, 0.0);
  }
  const auto split = IsCoded("frequency split", 2), grouped = IsCoded("group", 2);
  EXPECT_THAT(stored, testing::ElementsAre(split, split, grouped, grouped));
  // Codes, 4 means and a pair of constants for each of 16 x 16 elements.
  EXPECT_EQ(compressor.sites()[0].bytes_after, 32 * 16 * (64 + 4 * 2 + 4));
  EXPECT_EQ(compressor.report().find("best split"), std::string::npos);
}

TEST(Division, GradientsComeNearerWithEveryBit) {
  auto model = network();
  const at::Tensor x = images();
  const at::Tensor exact = gradients(model, x, nullptr);
  double last = 1.0;
  for (const double bits : {2.0, 4.0, 8.0}) {
    Compressor compressor({.bits = bits, .scheme = Scheme::division, .activation_bits = 8});
    const double error = distance(gradients(model, x, &compressor), exact);
    EXPECT_LT(error, 0.5 * last);
    last = error;
  }
  EXPECT_LT(last, 0.01);
}

TEST(Division, GoesOnFromAFileBitForBit) {
  const std::string path = testing::TempDir() + "/division.txt";
  auto model = network();
  const at::Tensor x = images();
  const CompressorOptions options{.bits = 3, .scheme = Scheme::division, .block = 4};
  Compressor whole(options), resumed(options);
  gradients(model, x, &whole);
  whole.save(path);
  resumed.load(path);
  EXPECT_EQ(test::places_of(resumed), test::places_of(whole));
  at::manual_seed(10);
  const at::Tensor expected = gradients(model, x, &whole);
  at::manual_seed(10);
  EXPECT_TRUE(at::equal(gradients(model, x, &resumed), expected));
}

TEST(Division, RefusesOtherBitsAndBlocks) {
  EXPECT_EQ(test::refusal([] { Compressor({.bits = 2.5, .scheme = Scheme::division}); }),
            "fewbit::Compressor: bits is 2.5, accepted in the scheme division: whole ones, 1 to 8");
  EXPECT_EQ(test::refusal([] { Compressor({.scheme = Scheme::division, .block = 0}); }),
            "fewbit::Compressor: block is 0, accepted: above 0");
}

}  // namespace fewbit::division_test
