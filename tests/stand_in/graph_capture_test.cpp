// Steps that are captured into a graph and run from it, as of CUDA.
#include <gtest/gtest.h>

#include "fewbit/fewbit.hpp"
#include "tests/stand_in/device/device.hpp"
#include "tests/stand_in/device/streams.hpp"
#include "tests/stand_in/networks.hpp"
#include "tests/support/refusal.hpp"

namespace fewbit::stand_in_graph_capture_test {

using test::SmallNetwork;

const c10::Device kFirst(stand_in::kDevice, 0);

/// A step of a network that runs from a graph.
class CapturedStep {
 public:
  CapturedStep(const SmallNetwork& network, Compressor* compressor) {
    graph_.begin(stream_);
    gradient_ = test::flat(network.gradients(compressor));
    graph_.end();
  }

  at::Tensor run() const {
    graph_.run(stream_);
    return gradient_.cpu();
  }

 private:
  c10::Stream stream_ = stand_in::current_stream(0);
  stand_in::Graph graph_;
  at::Tensor gradient_;
};

double relative(const at::Tensor& x, const at::Tensor& exact) {
  return ((x - exact).norm() / exact.norm()).item<double>();
}

SmallNetwork settled(const SmallNetwork& network, Compressor& compressor) {
  SmallNetwork there = network.on(kFirst);
  for (int step = 0; step < 4; ++step) there.gradient(&compressor);
  return there;
}

class StandInGraphs : public testing::TestWithParam<int> {};

TEST(StandInGraph, AnExactStepIsThatWithoutAGraph) {
  const SmallNetwork there = test::layers_network().on(kFirst);
  const CapturedStep step(there, nullptr);
  EXPECT_TRUE(at::equal(step.run(), there.gradient(nullptr)));
  there.x.mul_(2.0);
  EXPECT_TRUE(at::equal(step.run(), there.gradient(nullptr)));
}

/// Errors of no run are those of another, and a mean of many has less of them.
TEST_P(StandInGraphs, EveryRunDrawsItsOwnNumbers) {
  constexpr int kRuns = 20;
  const CompressorOptions options = test::every_scheme()[static_cast<size_t>(GetParam())];
  const SmallNetwork network = test::layers_network();
  Compressor compressor(options);
  const SmallNetwork there = settled(network, compressor);
  const CapturedStep step(there, &compressor);
  const at::Tensor exact = there.gradient(nullptr), first = step.run();
  const double error = relative(first, exact);
  const double eager = relative(there.gradient(&compressor), exact);
  ASSERT_GT(error, 0.0);
  EXPECT_NEAR(error, eager, 0.5 * eager);
  at::Tensor sum = first.clone();
  for (int run = 1; run < kRuns; ++run) {
    const at::Tensor gradient = step.run();
    ASSERT_FALSE(at::equal(gradient, first)) << run;
    sum += gradient;
  }
  EXPECT_LT(relative(sum / kRuns, exact), 0.5 * error);
}

INSTANTIATE_TEST_SUITE_P(Schemes, StandInGraphs, testing::Range(0, 9));

TEST(StandInGraph, TheSameNumbersOfTheDeviceGiveTheSameGradient) {
  Compressor compressor({.bits = 2});
  const SmallNetwork there = settled(test::layers_network(), compressor);
  const CapturedStep step(there, &compressor);
  at::Generator generator = stand_in::default_generator(0);
  const auto run_from_seed = [&] {
    generator.set_current_seed(3);
    return step.run();
  };
  EXPECT_TRUE(at::equal(run_from_seed(), run_from_seed()));
}

/// What was drawn for the forward decodes in the backward, with other inputs than were captured.
TEST(StandInGraph, AnotherInputHasItsOwnGradient) {
  Compressor compressor({.bits = 4});
  const SmallNetwork there = settled(test::layers_network(), compressor);
  const CapturedStep step(there, &compressor);
  there.x.copy_(at::randn({32, 48}));
  EXPECT_LT(relative(step.run(), there.gradient(nullptr)), 0.2);
}

/// Nothing is measured while a graph is captured, whatever is due.
TEST(StandInGraph, AStepThatWasToMeasureIsCapturedWithoutThat) {
  Compressor compressor({.bits = 4});
  const SmallNetwork there = test::layers_network().on(kFirst);
  const CapturedStep step(there, &compressor);
  EXPECT_LT(relative(step.run(), there.gradient(nullptr)), 0.2);
}

TEST(StandInGraph, OffloadingIsRefused) {
  Compressor compressor({.bits = 4, .offload = true});
  const SmallNetwork there = settled(test::wide_network(), compressor);
  const std::string said = test::refusal([&] { CapturedStep(there, &compressor); });
  EXPECT_NE(said.find("is captured into a graph"), std::string::npos) << said;
}

}  // namespace fewbit::stand_in_graph_capture_test
