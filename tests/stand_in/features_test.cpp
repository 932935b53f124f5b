// What else a session has, on the stand-in.
#include <gtest/gtest.h>

#include "fewbit/fewbit.hpp"
#include "tests/stand_in/device/counts.hpp"
#include "tests/stand_in/device/device.hpp"
#include "tests/stand_in/networks.hpp"

namespace fewbit::stand_in_features_test {

using test::SmallNetwork;

const c10::Device kFirst(stand_in::kDevice, 0);

at::Tensor gradient_in_scope(const SmallNetwork& network) {
  const ActivationScope scope({.bits = 3});
  return network.gradient(nullptr);
}

TEST(StandInFeatures, AnActivationScopeHasTheGradientsOfTheCpu) {
  const SmallNetwork network = test::small_networks()[0];
  EXPECT_TRUE(at::equal(gradient_in_scope(network.on(kFirst)), gradient_in_scope(network)));
}

TEST(StandInFeatures, ARandomizedLinearScopeDoesNotWait) {
  const SmallNetwork there = test::small_networks()[0].on(kFirst);
  const auto gradients = [&] {
    const RandomizedLinearScope scope({.keep = 0.5});
    return there.gradients(nullptr);
  };
  gradients();
  const stand_in::NoWaiting guard;
  EXPECT_EQ(gradients().size(), there.parameters.size());
}

TEST(StandInFeatures, CheckpointsInASessionHaveTheGradientsOfTheCpu) {
  SmallNetwork network = test::small_networks()[0];
  network.loss = [](const at::Tensor& x, const SmallNetwork::Tensors& p) {
    const auto block = [&](const at::Tensor& y) {
      return at::relu(at::layer_norm(at::linear(y, p[0]), {48}, p[1], p[2]));
    };
    const at::Tensor h = checkpoint(block, checkpoint(block, at::linear(x, p[0])));
    return at::linear(at::linear(h, p[3], p[4]), p[5]).square().mean();
  };
  const SmallNetwork there = network.on(kFirst);
  Compressor of_cpu({.bits = 4}), of_device({.bits = 4});
  for (int step = 0; step < 3; ++step) {
    const at::Tensor expected = network.gradient(&of_cpu);
    EXPECT_TRUE(at::equal(there.gradient(&of_device), expected)) << of_device.report();
  }
}

TEST(StandInFeatures, BudgetsArePreviewed) {
  const SmallNetwork there = test::small_networks()[0].on(kFirst);
  const BudgetPreview preview =
      preview_budgets([&] { return there.loss(there.x * 1.0, there.parameters); });
  EXPECT_NE(preview.text(), "");
}

TEST(StandInFeatures, NoiseIsPreviewedAsOnTheCpu) {
  const SmallNetwork network = test::small_networks()[0], there = network.on(kFirst);
  const auto preview = [](const SmallNetwork& of) {
    torch::OrderedDict<std::string, at::Tensor> named;
    for (size_t i = 0; i < of.parameters.size(); ++i) {
      named.insert(std::to_string(i), of.parameters[i]);
    }
    at::manual_seed(12);
    return preview_noise(
        [&](int64_t batch) {
          return of.loss(of.x * (1.0 + 0.1 * static_cast<double>(batch)), of.parameters);
        },
        3, named, {}, {2.0});
  };
  const NoisePreview expected = preview(network), found = preview(there);
  EXPECT_EQ(found.rows[0].bytes, expected.rows[0].bytes);
  EXPECT_NEAR(found.rows[0].added, expected.rows[0].added, 0.3 * expected.rows[0].added);
}

}  // namespace fewbit::stand_in_features_test
