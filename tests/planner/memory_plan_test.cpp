// Plans of what is kept how: what they promise is what a compressor that follows them keeps.
#include "fewbit/memory_plan.hpp"

#include <algorithm>
#include <optional>

#include <gmock/gmock.h>
#include <torch/nn/modules/transformerlayer.h>

#include "fewbit/checkpoint.hpp"
#include "fewbit/peak_bytes.hpp"
#include "fewbit/saved_bytes.hpp"
#include "tests/support/compression_model.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/stored_as.hpp"

namespace fewbit::memory_plan_test {

using namespace test;
using testing::HasSubstr;

constexpr int64_t kPlenty = int64_t{1} << 40;

/// Norms, linear layers and relu under names like "2.linear1", and a loss of its own.
struct Blocks {
  std::vector<torch::nn::TransformerEncoderLayer> layers;
  torch::OrderedDict<std::string, at::Tensor> parameters;
  at::Tensor x;

  explicit Blocks(int count, double dropout = 0.0) {
    at::manual_seed(7);
    for (int i = 0; i < count; ++i) {
      layers.emplace_back(torch::nn::TransformerEncoderLayerOptions(kWidth, 4)
                              .dim_feedforward(4 * kWidth)
                              .dropout(dropout));
      for (const auto& parameter : layers.back()->named_parameters()) {
        parameters.insert("layers." + std::to_string(i) + '.' + parameter.key(), parameter.value());
      }
    }
    x = at::randn({16, 8, kWidth});
  }

  at::Tensor loss(bool checks = false) {
    at::Tensor y = x;
    for (auto& layer : layers) {
      const auto run = [&](const at::Tensor& in) { return layer->forward(in); };
      y = checks ? checkpoint(run, y) : run(y);
    }
    return at::mse_loss(y, at::zeros_like(y));
  }
  at::Tensor gradient(const at::Tensor& loss) {
    std::vector<at::Tensor> all;
    for (const auto& parameter : parameters) all.push_back(parameter.value());
    return flat(torch::autograd::grad({loss}, all));
  }
};

struct PackedTensor {
  int64_t bytes = 0;
  at::Tensor loss;
};

template <class Forward>
PackedTensor forward_of(const Forward& forward, Compressor* compressor = nullptr) {
  SavedBytes meter;
  const auto watch = meter.watch();
  std::optional<CompressionScope> scope;
  if (compressor != nullptr) scope.emplace(*compressor);
  const at::Tensor loss = forward();
  return {meter.unique_bytes(), loss};
}

void choose_where_possible(MemoryPlan& plan, Storage keep) {
  for (MemoryPlan::Site& place : plan.sites) {
    const auto choice = std::ranges::find(place.choices, keep, &MemoryPlan::Choice::storage);
    if (choice == place.choices.end()) continue;
    place.chosen = static_cast<size_t>(choice - place.choices.begin());
  }
}

int64_t count_of(const MemoryPlan& plan, Storage keep) {
  return std::ranges::count(plan.sites, keep,
                            [](const MemoryPlan::Site& place) { return place.choice().storage; });
}

TEST(MemoryPlan, IsKeptToWhateverTheBudget) {
  Blocks model(2);
  const auto forward = [&] { return model.loss(); };
  const at::Tensor exact = model.gradient(forward());
  const int64_t all = forward_of(forward).bytes;
  int64_t before = 0;
  for (const double share : {0.02, 0.2, 0.5, 0.9, 2.0}) {
    const auto budget = static_cast<int64_t>(share * static_cast<double>(all));
    const MemoryPlan plan =
        plan_memory(forward, {.kept_bytes = budget}, {.bits = 4}, model.parameters);
    EXPECT_EQ(plan.exact_bytes, all);
    EXPECT_EQ(plan.fits(), plan.bytes() <= budget);
    EXPECT_EQ(plan.fits(), share > 0.1) << plan.text();
    EXPECT_GE(plan.bytes(), before);
    before = plan.bytes();
    Compressor compressor({.bits = 4});
    compressor.follow(plan);
    for (int step = 0; step < 3; ++step) {
      const PackedTensor kept = forward_of(forward, &compressor);
      EXPECT_NEAR(static_cast<double>(kept.bytes), static_cast<double>(plan.bytes()),
                  0.01 * static_cast<double>(plan.bytes()))
          << plan.text() << compressor.report();
      EXPECT_LT(distance(model.gradient(kept.loss), exact), 0.25);
    }
  }
}

/// Bytes of a step whose gradients are dropped.
template <class Forward>
int64_t step_peak_of(Blocks& model, const Forward& forward, Compressor* compressor = nullptr) {
  return peak_bytes([&] {
    at::Tensor loss;
    {
      std::optional<CompressionScope> scope;
      if (compressor != nullptr) scope.emplace(*compressor);
      loss = forward();
    }
    std::vector<at::Tensor> all;
    for (const auto& parameter : model.parameters) all.push_back(parameter.value());
    torch::autograd::grad({loss}, all);
  });
}

TEST(MemoryPlan, KeepsToAPeak) {
  Blocks model(4);
  model.x = at::randn({64, 8, kWidth});
  const auto forward = [&] { return model.loss(); };
  const int64_t exact = step_peak_of(model, forward);
  for (const double share : {0.1, 0.4, 0.7, 2.0}) {
    const auto budget = static_cast<int64_t>(share * static_cast<double>(exact));
    const MemoryPlan plan =
        plan_memory(forward, {.peak_bytes = budget}, {.bits = 3}, model.parameters);
    EXPECT_NEAR(static_cast<double>(plan.exact_peak), static_cast<double>(exact),
                0.01 * static_cast<double>(exact));
    EXPECT_EQ(plan.fits(), share > 0.3) << plan.text();
    EXPECT_EQ(plan.fits(), plan.step_peak <= budget);
    EXPECT_LE(plan.forward_peak, plan.step_peak);
    // Little of the budget is left unused.
    if (share == 0.7) {
      EXPECT_GT(static_cast<double>(plan.step_peak), 0.9 * static_cast<double>(budget));
    }
    EXPECT_TRUE(share < 2.0 || plan.bytes() == plan.exact_bytes) << plan.text();
    Compressor compressor({.bits = 3});
    compressor.follow(plan);
    int64_t highest = 0;
    for (int step = 0; step < 3; ++step) {
      highest = std::max(highest, step_peak_of(model, forward, &compressor));
    }
    EXPECT_NEAR(static_cast<double>(highest), static_cast<double>(plan.step_peak),
                0.05 * static_cast<double>(plan.step_peak))
        << plan.text() << compressor.report();
  }
}

// Offloading everything keeps fewer bytes, and takes more at a time.
TEST(MemoryPlan, AsLowAPeakAsThatOfACompressorIsFound) {
  Blocks model(2, 0.1);
  model.x = at::randn({64, 8, kWidth});
  const auto forward = [&] { return model.loss(); };
  Compressor compressor({.bits = 2});
  int64_t peak = 0;
  for (int step = 0; step < 3; ++step) {
    peak = std::max(peak, step_peak_of(model, forward, &compressor));
  }
  const MemoryPlan plan =
      plan_memory(forward, {.peak_bytes = peak + peak / 10}, {.bits = 2}, model.parameters);
  EXPECT_TRUE(plan.fits()) << peak << plan.text();
}

TEST(MemoryPlan, EveryStorageIsHonouredAtEverySite) {
  Blocks model(2);
  const auto forward = [&] { return model.loss(); };
  const at::Tensor exact = model.gradient(forward());
  const MemoryPlan plan =
      plan_memory(forward, {.kept_bytes = kPlenty}, {.bits = 8}, model.parameters);
  const std::pair<Storage, double> ways[] = {{Storage::exact, 1e-6},
                                             {Storage::coded, 0.03},
                                             {Storage::recomputed, 0.03},
                                             {Storage::offloaded, 1e-6}};
  for (const auto& [keep, distant] : ways) {
    MemoryPlan chosen = plan;
    choose_where_possible(chosen, Storage::coded);
    choose_where_possible(chosen, keep);
    EXPECT_GT(count_of(chosen, keep), keep == Storage::recomputed ? 2 : 10) << chosen.text();
    Compressor compressor({.bits = 1});  // the plan's bits count
    compressor.follow(chosen);
    for (int step = 0; step < 2; ++step) {
      const PackedTensor kept = forward_of(forward, &compressor);
      EXPECT_NEAR(static_cast<double>(kept.bytes), static_cast<double>(chosen.bytes()),
                  0.01 * static_cast<double>(chosen.bytes()))
          << chosen.text() << compressor.report();
      EXPECT_LT(distance(model.gradient(kept.loss), exact), distant) << compressor.report();
    }
    for (size_t i = 0; i < chosen.sites.size(); ++i) {
      const StoredAs kept = compressor.sites().at(i).stored;
      const Storage storage = chosen.sites[i].choice().storage;
      EXPECT_EQ(testing::Value(kept, IsRecomputed()), storage == Storage::recomputed)
          << kept.text();
      EXPECT_EQ(testing::Value(kept, IsExact(ExactReason::requested)), storage == Storage::exact)
          << kept.text();
    }
  }
}

TEST(MemoryPlan, WhatIsNeverToBeRecomputedIsNot) {
  Blocks model(2);
  const auto forward = [&] { return model.loss(); };
  MemoryPlan plan = plan_memory(forward, {.kept_bytes = kPlenty}, {.bits = 2}, model.parameters);
  choose_where_possible(plan, Storage::coded);
  choose_where_possible(plan, Storage::recomputed);
  ASSERT_GT(count_of(plan, Storage::recomputed), 0) << plan.text();
  Compressor compressor({.bits = 2});
  compressor.recompute("*", Recompute::never).follow(plan);
  forward_of(forward, &compressor);
  for (const Compressor::Site& site : compressor.sites()) {
    EXPECT_THAT(site.stored, testing::Not(IsRecomputed())) << compressor.report();
  }
}

// Where nothing fits, no choice at any place takes fewer bytes, with the option `offload` too.
TEST(MemoryPlan, NoBytesAreTheFewestThatThereAre) {
  Blocks model(2);
  const auto forward = [&] { return model.loss(); };
  for (const bool offload : {false, true}) {
    const MemoryPlan plan =
        plan_memory(forward, {.kept_bytes = 1}, {.bits = 2, .offload = offload}, model.parameters);
    EXPECT_FALSE(plan.fits());
    for (size_t i = 0; i < plan.sites.size(); ++i) {
      MemoryPlan other = plan;
      for (size_t choice = 0; choice < plan.sites[i].choices.size(); ++choice) {
        other.sites[i].chosen = choice;
        EXPECT_GE(other.bytes(), plan.bytes()) << other.sites[i].site.name() << plan.text();
      }
    }
    Compressor compressor({.bits = 2, .offload = offload});
    compressor.follow(plan);
    for (int step = 0; step < 2; ++step) {
      EXPECT_NEAR(static_cast<double>(forward_of(forward, &compressor).bytes),
                  static_cast<double>(plan.bytes()), 0.01 * static_cast<double>(plan.bytes()))
          << offload << plan.text() << compressor.report();
    }
  }
}

TEST(MemoryPlan, PlentyOfBytesKeepsAllExact) {
  Blocks model(1);
  const MemoryPlan plan = plan_memory([&] { return model.loss(); }, {.kept_bytes = kPlenty});
  EXPECT_TRUE(plan.fits());
  EXPECT_EQ(count_of(plan, Storage::exact), static_cast<int64_t>(plan.sites.size())) << plan.text();
  EXPECT_GT(plan.step_seconds, 0.0);
  EXPECT_EQ(plan.seconds(), plan.other_seconds);
  for (const MemoryPlan::Checkpoint& one : plan.checkpoints) EXPECT_FALSE(one.is_proposed);
}

// A plan is the program's, as rules are.
TEST(MemoryPlan, ARunThatFollowsOneGoesOnFromAFile) {
  Blocks model(1);
  const auto forward = [&] { return model.loss(); };
  MemoryPlan plan = plan_memory(forward, {.kept_bytes = kPlenty});
  for (size_t i = 0; i < plan.sites.size(); ++i) {
    plan.sites[i].chosen = i % plan.sites[i].choices.size();
  }
  Compressor first, second;
  first.follow(plan);
  second.follow(plan);
  forward_of(forward, &first);
  const std::string path = testing::TempDir() + "/memory_plan.txt";
  first.save(path);
  second.load(path);
  const auto next = [&](Compressor& compressor) {
    at::manual_seed(5);
    return model.gradient(forward_of(forward, &compressor).loss);
  };
  EXPECT_TRUE(at::equal(next(first), next(second)));
  EXPECT_EQ(test::places_of(first), test::places_of(second));
}

TEST(MemoryPlan, WhatSeveralOperationsKeepIsOnePlace) {
  torch::nn::Linear a(kWidth, kWidth), b(kWidth, kWidth);
  const auto forward = [&] {
    const at::Tensor x = input().requires_grad_() * 2.0;
    return (a->forward(x) + b->forward(x)).sum();
  };
  for (const int64_t budget : {int64_t{0}, kPlenty}) {
    const MemoryPlan plan = plan_memory(forward, {.kept_bytes = budget});
    ASSERT_EQ(plan.sites.size(), 1U) << plan.text();
    Compressor compressor;
    compressor.follow(plan);
    EXPECT_EQ(forward_of(forward, &compressor).bytes, plan.bytes()) << compressor.report();
    EXPECT_EQ(compressor.sites().size(), 1U) << compressor.report();
  }
}

TEST(MemoryPlan, CheckpointsSaveWhatIsSaid) {
  Blocks model(3);
  const MemoryPlan plan = plan_memory([&] { return model.loss(); }, {.kept_bytes = kPlenty},
                                      {.bits = 2}, model.parameters);
  ASSERT_EQ(plan.checkpoints.size(), 3U) << plan.text();
  int64_t less = 0;
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(plan.checkpoints[i].module, "layers." + std::to_string(i));
    EXPECT_FALSE(plan.checkpoints[i].is_proposed);
    less += plan.checkpoints[i].bytes;
  }
  Compressor compressor({.bits = 2});
  const PackedTensor kept = forward_of([&] { return model.loss(true); }, &compressor);
  EXPECT_NEAR(static_cast<double>(plan.bytes() - kept.bytes), static_cast<double>(less),
              0.01 * static_cast<double>(less))
      << plan.text() << compressor.report();
}

TEST(MemoryPlan, AnExactViewHoldsAllOfItsMemory) {
  torch::nn::Linear all(kWidth, kWidth), first(kWidth, kWidth);
  const at::Tensor x = at::randn({64, 32, kWidth}).requires_grad_();
  const auto forward = [&] {
    const at::Tensor y = all->forward(x * 2.0) * 3.0;
    return first->forward(y.select(1, 0)).sum();
  };
  const int64_t half = 4 * x.numel();
  MemoryPlan plan = plan_memory(forward, {.kept_bytes = half + half / 2});
  ASSERT_EQ(plan.sites.size(), 2U) << plan.text();
  EXPECT_TRUE(plan.fits());
  choose_where_possible(plan, Storage::exact);
  EXPECT_GE(plan.bytes(), 2 * half) << plan.text();
  Compressor compressor;
  compressor.follow(plan);
  EXPECT_NEAR(static_cast<double>(forward_of(forward, &compressor).bytes),
              static_cast<double>(plan.bytes()), 0.01 * static_cast<double>(half));
}

TEST(MemoryPlan, SaysWhatItIs) {
  Blocks model(1);
  const auto forward = [&] { return model.loss(); };
  const std::string none = plan_memory(forward, {.kept_bytes = 0}, {}, model.parameters).text();
  EXPECT_THAT(none, HasSubstr(", budget 0, which nothing was found to fit\npeak of a step: "));
  EXPECT_THAT(none, HasSubstr("of layers.0.linear1, argument 0"));
  EXPECT_THAT(none, HasSubstr("recomputed ms"));
  const std::string plenty =
      plan_memory(forward, {.kept_bytes = kPlenty}, {}, model.parameters).text();
  EXPECT_THAT(plenty, HasSubstr(", budget 1,099,511,627,776\npeak of a step: "));
  EXPECT_THAT(plenty, HasSubstr("fewbit::checkpoint of"));
}

TEST(MemoryPlan, RefusesABudgetBelowNothing) {
  EXPECT_THAT(refusal([] { plan_memory([] { return at::ones({1}); }, {.kept_bytes = -1}); }),
              HasSubstr("fewbit::plan_memory: kept_bytes is -1, accepted: 0 or more"));
}

TEST(MemoryPlan, WhatTheForwardThrowsPassesThrough) {
  int calls = 0;
  const auto forward = [&]() -> at::Tensor {
    if (++calls == 7) throw std::runtime_error("seventh");
    return at::ones({1});
  };
  EXPECT_THROW(plan_memory(forward, {.kept_bytes = 0}), std::runtime_error);
  EXPECT_EQ(calls, 7);
  const MemoryPlan plan = plan_memory([] { return at::ones({1}); }, {.kept_bytes = 0});
  EXPECT_TRUE(plan.sites.empty());
  EXPECT_TRUE(plan.fits());
}

}  // namespace fewbit::memory_plan_test
