// Whole sessions on the stand-in: codes and gradients are those of the CPU, bit for bit, in
// whatever order streams run.
#include <algorithm>
#include <chrono>
#include <thread>

#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <gtest/gtest.h>

#include "fewbit/fewbit.hpp"
#include "tests/stand_in/device/counts.hpp"
#include "tests/stand_in/device/memory.hpp"
#include "tests/stand_in/device/streams.hpp"
#include "tests/stand_in/networks.hpp"

namespace fewbit::stand_in_session_test {

using stand_in::kDevice;
using test::SmallNetwork;

const c10::Device kFirst(kDevice, 0), kSecond(kDevice, 1);

/// What is told of sites, for a comparison.
std::string sites_of(const Compressor& compressor) {
  std::ostringstream text;
  for (const Compressor::Site& site : compressor.sites()) {
    text << site.name() << ": " << site.stored.text() << ", " << site.bytes_after << " and "
         << site.bytes_offloaded << " bytes\n";
  }
  return text.str();
}

/// Of the first device, once all work is done.
int64_t bytes_in_use() {
  stand_in::finish_device(0);
  at::empty({1}, kFirst);  // which looks for blocks that no stream uses any more
  return stand_in::bytes_in_use(0);
}

/// Whether they come down to that: the engine's threads let go of tensors after a backward pass.
bool comes_down_to(int64_t bytes) {
  for (int i = 0; i < 400 && bytes_in_use() > bytes; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return bytes_in_use() <= bytes;
}

/// Steps of two sessions have the same sites and gradients, bit for bit.
void expect_alike(const SmallNetwork& a, Compressor& of_a, const SmallNetwork& b, Compressor& of_b,
                  int steps = 3) {
  for (int step = 0; step < steps; ++step) {
    at::manual_seed(100 + step);
    const at::Tensor expected = a.gradient(&of_a);
    at::manual_seed(100 + step);
    const at::Tensor found = b.gradient(&of_b);
    ASSERT_EQ(sites_of(of_b), sites_of(of_a)) << b.name << ", step " << step;
    ASSERT_TRUE(at::equal(found, expected)) << b.name << ", step " << step << ": apart by "
                                            << (found - expected).abs().max().item<double>() << '\n'
                                            << sites_of(of_b);
  }
}

TEST(StandInSession, ExactGradientsAreThoseOfTheCpu) {
  for (const SmallNetwork& network : test::small_networks()) {
    EXPECT_TRUE(at::equal(network.on(kFirst).gradient(nullptr), network.gradient(nullptr)))
        << network.name;
  }
}

TEST(StandInSession, GradientsOfEverySchemeAreThoseOfTheCpu) {
  uint64_t order = 0;
  for (const SmallNetwork& network : test::small_networks()) {
    for (const CompressorOptions& options : test::every_scheme()) {
      // There the CPU groups by samples, a GPU does not.
      if (options.scheme == Scheme::actnn && !options.level) continue;
      stand_in::set_order(order++);
      Compressor here(options), there(options);
      expect_alike(network, here, network.on(kFirst), there);
    }
  }
}

// In float a GPU's values of gelu and silu are a few ulp from the CPU's, and with them what is
// rounded.
TEST(StandInSession, GradientsThroughCurvedActivationsAreNearlyThoseOfTheCpu) {
  const SmallNetwork network = test::curved_network(), there = network.on(kFirst);
  Compressor of_cpu({.bits = 2}), of_device({.bits = 2});
  for (int step = 0; step < 3; ++step) {
    const at::Tensor expected = network.gradient(&of_cpu);
    EXPECT_LT(test::distance(there.gradient(&of_device), expected), 0.02) << step;
    EXPECT_EQ(sites_of(of_device), sites_of(of_cpu)) << step;
  }
}

TEST(StandInSession, RecomputesAsTheCpu) {
  for (const SmallNetwork& network : test::small_networks()) {
    Compressor here({.bits = 2}), there({.bits = 2});
    for (Compressor* one : {&here, &there}) {
      one->recompute("*", Recompute::where_better).recompute("linear", Recompute::always);
    }
    expect_alike(network, here, network.on(kFirst), there);
  }
}

int64_t offloaded_bytes(const Compressor& compressor) {
  int64_t bytes = 0;
  for (const Compressor::Site& site : compressor.sites()) bytes += site.bytes_offloaded;
  return bytes;
}

TEST(StandInSession, CodesThatLeaveComeBackInEveryOrder) {
  const SmallNetwork there = test::wide_network().on(kFirst);
  for (uint64_t order = 0; order < 4; ++order) {
    stand_in::set_order(order);
    Compressor stays({.bits = 4}), leaves({.bits = 4, .offload = true});
    leaves.offload_exact("aten::pow");
    stays.leave_alone("aten::pow");
    for (int step = 0; step < 2; ++step) {
      const at::Tensor expected = there.gradient(&stays);
      ASSERT_TRUE(at::equal(there.gradient(&leaves), expected))
          << "order " << order << ", step " << step;
    }
    EXPECT_GT(offloaded_bytes(leaves), 3 * 96 * 128 / 2 + 4 * 96 * 128) << leaves.report();
  }
}

/// Steps from the first one on; what the host waited for in those that measure nothing.
std::string waits_of_settled_steps(const SmallNetwork& network, const CompressorOptions& options) {
  Compressor compressor(options);
  std::string causes;
  for (int step = 1; step <= 7; ++step) {
    stand_in::reset_counts();
    network.gradients(&compressor);
    if (step < 4 || step == 5) continue;
    for (const auto& [cause, count] : stand_in::counts().waits_by_cause) {
      causes += std::to_string(count) + " for " + cause + ", ";
    }
  }
  return causes;
}

TEST(StandInSession, ASettledStepNeverWaitsForTheDevice) {
  for (const SmallNetwork& network : test::small_networks()) {
    EXPECT_EQ(waits_of_settled_steps(network.on(kFirst), {.bits = 2}), "") << network.name;
  }
  const SmallNetwork pictures = test::small_networks()[1].on(kFirst);
  for (const CompressorOptions& options : test::every_scheme()) {
    EXPECT_EQ(waits_of_settled_steps(pictures, options), "")
        << "scheme " << static_cast<int>(options.scheme);
  }
  EXPECT_EQ(waits_of_settled_steps(test::wide_network().on(kFirst), {.bits = 4, .offload = true}),
            "");
}

// Which the runtime forgets here as far as the device knows.
TEST(StandInSession, SeesWaitsAndRecordsThatAreMissing) {
  const SmallNetwork there = test::wide_network().on(kFirst);
  using stand_in::Fault;
  for (const Fault fault : {Fault::none, Fault::waits_for_events, Fault::records_of_streams}) {
    int wrong = 0;
    for (uint64_t order = 0; order < 3; ++order) {
      stand_in::set_order(order);
      Compressor stays({.bits = 4}), leaves({.bits = 4, .offload = true});
      const at::Tensor expected = there.gradient(&stays);
      stand_in::plant(fault);
      try {
        wrong += at::equal(there.gradient(&leaves), expected) ? 0 : 1;
      } catch (const c10::Error&) {
        ++wrong;
      }
      stand_in::plant(Fault::none);
      stand_in::finish_device(0);
    }
    EXPECT_EQ(wrong > 0, fault != Fault::none) << static_cast<int>(fault) << ": " << wrong;
  }
}

TEST(StandInSession, RunsOnTheDeviceOfItsTensors) {
  const SmallNetwork network = test::small_networks()[0];
  Compressor here({.bits = 2}), there({.bits = 2});
  const SmallNetwork second = network.on(kSecond);
  const int64_t before = bytes_in_use();
  expect_alike(network, here, second, there);
  EXPECT_TRUE(comes_down_to(before)) << bytes_in_use() << " and " << before;
}

TEST(StandInSession, OfAModelOnTwoDevicesHasItsGradients) {
  const SmallNetwork network = test::small_networks()[0];
  SmallNetwork one = network.on(kFirst), two = one;
  for (size_t i : {3, 4, 5}) two.parameters[i] = two.parameters[i].detach().to(kSecond);
  for (size_t i : {3, 4, 5}) two.parameters[i].requires_grad_();
  const auto loss = [](c10::Device middle) {
    return [middle](const at::Tensor& x, const std::vector<at::Tensor>& p) {
      const auto copied = [](const at::Tensor& y, c10::Device device) {
        return y.to(device, at::kFloat, /*non_blocking=*/true, /*copy=*/true);
      };
      const at::Tensor h = at::layer_norm(at::linear(x, p[0]), {48}, p[1], p[2]);
      const at::Tensor wide = at::gelu(at::linear(copied(h, middle), p[3], p[4]));
      const at::Tensor narrow = copied(at::relu(at::linear(wide, p[5])), kFirst);
      return at::linear(narrow + h, p[0]).square().mean();
    };
  };
  one.loss = loss(kFirst);
  two.loss = loss(kSecond);
  for (uint64_t order = 0; order < 4; ++order) {
    stand_in::set_order(order);
    Compressor of_one({.bits = 2}), of_two({.bits = 2, .offload = order % 2 == 1});
    for (int step = 0; step < 3; ++step) {
      const auto host = [](const std::vector<at::Tensor>& gradients) {
        std::vector<at::Tensor> all;
        for (const at::Tensor& gradient : gradients) all.push_back(gradient.cpu());
        return test::flat(all);
      };
      const at::Tensor expected = host(one.gradients(&of_one));
      ASSERT_TRUE(at::equal(host(two.gradients(&of_two)), expected))
          << "order " << order << ", step " << step;
    }
  }
}

// As a program does that runs its forward on a stream of its own.
TEST(StandInSession, TheCurrentStreamMayChangeBetweenForwardAndBackward) {
  const SmallNetwork there = test::wide_network().on(kFirst);
  for (uint64_t order = 0; order < 4; ++order) {
    stand_in::set_order(order);
    Compressor usual({.bits = 4}), streams({.bits = 4, .offload = order < 2});
    for (int step = 0; step < 2; ++step) {
      const at::Tensor expected = there.gradient(&usual);
      at::Tensor loss;
      c10::Event before(kDevice), after(kDevice);
      before.record(stand_in::current_stream(0));
      {
        const c10::StreamGuard guard(stand_in::pool_stream(0));
        before.block(stand_in::current_stream(0));
        loss = there.loss_in(&streams);
        after.record(stand_in::current_stream(0));
      }
      const c10::StreamGuard guard(stand_in::pool_stream(0));
      after.block(stand_in::current_stream(0));
      const at::Tensor found = test::flat(torch::autograd::grad({loss}, there.parameters)).cpu();
      ASSERT_TRUE(at::equal(found, expected)) << "order " << order << ", step " << step;
    }
  }
}

TEST(StandInSession, ACheckpointDrawsTheNumbersOfItsDeviceAgain) {
  const SmallNetwork there = test::small_networks()[0].on(kSecond);
  const auto block = [&](const at::Tensor& x) {
    return at::dropout(at::gelu(at::linear(x, there.parameters[0])), 0.5, true);
  };
  const auto gradient = [&](bool checks) {
    at::manual_seed(8);
    const at::Tensor x = there.x * 1.0;
    const at::Tensor y = checks ? checkpoint(block, x) : block(x);
    at::rand({7}, kSecond);
    return torch::autograd::grad({y.square().sum()}, {there.parameters[0]})[0].cpu();
  };
  EXPECT_TRUE(at::equal(gradient(true), gradient(false)));
}

TEST(StandInSession, GoesOnFromAFile) {
  const std::string path = testing::TempDir() + "fewbit_stand_in_state";
  const SmallNetwork there = test::small_networks()[1].on(kFirst);
  Compressor first({.bits = 2.5, .directions = 4});
  for (int step = 0; step < 3; ++step) there.gradients(&first);
  first.save(path);
  Compressor second({.bits = 2.5, .directions = 4});
  second.load(path);
  for (int step = 0; step < 3; ++step) {
    const at::Tensor expected = there.gradient(&first);
    EXPECT_TRUE(at::equal(there.gradient(&second), expected)) << step;
  }
}

// Directions are read from the file into the host's memory.
TEST(StandInSession, WaitsForDirectionsOfAFileOnceAlone) {
  const std::string path = testing::TempDir() + "fewbit_stand_in_directions";
  at::manual_seed(7);
  SmallNetwork network{"of few directions", at::randn({512, 2}).matmul(at::randn({2, 64})), {}, {}};
  network.parameters = {test::small_parameter({64, 64}, 0.1)};
  network.loss = [](const at::Tensor& x, const std::vector<at::Tensor>& p) {
    return at::linear(x, p[0]).square().mean();
  };
  const SmallNetwork there = network.on(kFirst);
  Compressor first({.bits = 2, .directions = 4}), second({.bits = 2, .directions = 4});
  for (int step = 0; step < 6; ++step) there.gradients(&first);
  ASSERT_GT(first.sites()[0].bytes_of_directions, 0) << first.report();
  first.save(path);
  second.load(path);
  there.gradients(&second);
  stand_in::reset_counts();
  there.gradients(&second);
  EXPECT_TRUE(stand_in::counts().waits_by_cause.empty());
}

TEST(StandInSession, TheMeterCountsTheBytesOfTheCpu) {
  const auto bytes = [](const SmallNetwork& network, Compressor* compressor) {
    SavedBytes meter;
    const auto watch = meter.watch();
    const at::Tensor loss = network.loss_in(compressor);
    return meter.unique_bytes();
  };
  for (const SmallNetwork& network : test::small_networks()) {
    const SmallNetwork there = network.on(kFirst);
    EXPECT_EQ(bytes(there, nullptr), bytes(network, nullptr)) << network.name;
    Compressor on_cpu({.bits = 2}), on_device({.bits = 2});
    EXPECT_EQ(bytes(there, &on_device), bytes(network, &on_cpu)) << network.name;
  }
}

TEST(StandInSession, APlanHoldsWhatItPromises) {
  const SmallNetwork there = test::small_networks()[0].on(kFirst);
  const auto forward = [&] { return there.loss(there.x * 1.0, there.parameters); };
  SavedBytes exact;
  {
    const auto watch = exact.watch();
    const at::Tensor loss = forward();
  }
  const MemoryPlan plan = plan_memory(forward, {.kept_bytes = exact.unique_bytes() / 3});
  ASSERT_TRUE(plan.fits()) << plan.text();
  Compressor compressor({.bits = 2});
  compressor.follow(plan);
  for (int step = 0; step < 2; ++step) there.gradients(&compressor);
  SavedBytes meter;
  {
    const auto watch = meter.watch();
    const at::Tensor loss = there.loss_in(&compressor);
    EXPECT_EQ(meter.unique_bytes(), plan.bytes()) << plan.text();
  }
  EXPECT_GT(peak_bytes([&] { there.gradients(&compressor); }, kFirst), 0);
}

TEST(StandInSession, GivesAllMemoryBack) {
  const int64_t before = bytes_in_use();
  {
    const SmallNetwork there = test::wide_network().on(kFirst);
    Compressor compressor({.bits = 4, .offload = true});
    for (int step = 0; step < 2; ++step) there.gradients(&compressor);
  }
  EXPECT_TRUE(comes_down_to(before)) << bytes_in_use() << " and " << before;
}

}  // namespace fewbit::stand_in_session_test
