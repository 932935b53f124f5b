#include "ops/next_seed.hpp"

#include <optional>
#include <set>
#include <thread>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <gtest/gtest.h>

#include "ops/find.hpp"

namespace fewbit::next_seed_test {

using ops::SeedScope;

int64_t next_seed() {
  static const auto operation = ops::find<at::Tensor(const at::Tensor&)>("fewbit::next_seed");
  const at::Tensor seed = operation.call(at::empty({2}, at::kFloat));
  EXPECT_EQ(seed.scalar_type(), at::kLong);
  EXPECT_EQ(seed.sizes(), at::IntArrayRef({1}));
  return seed.item<int64_t>();
}

std::vector<int64_t> seeds_of(int64_t seed, int count) {
  SeedScope scope(seed);
  std::vector<int64_t> seeds;
  for (int i = 0; i < count; ++i) seeds.push_back(next_seed());
  return seeds;
}

TEST(NextSeed, IsAFunctionOfTheScopesSeedAndOfHowManyThereWere) {
  EXPECT_EQ(seeds_of(7, 5), seeds_of(7, 5));
  std::set<int64_t> all;
  for (const int64_t seed : {7, 8, 9}) {
    for (const int64_t one : seeds_of(seed, 100)) {
      EXPECT_GE(one, 0);
      all.insert(one);
    }
  }
  EXPECT_EQ(all.size(), 300u);
}

TEST(NextSeed, ComesOfTheInnermostScopeOfTheThread) {
  const std::vector<int64_t> outer_seeds = seeds_of(1, 2), inner_seeds = seeds_of(2, 2);
  std::optional<SeedScope> outer(std::in_place, 1), inner(std::in_place, 2);
  EXPECT_EQ(next_seed(), inner_seeds[0]);
  std::thread([&] { EXPECT_NE(next_seed(), inner_seeds[1]); }).join();
  outer.reset();  // in any order
  EXPECT_EQ(next_seed(), inner_seeds[1]);
  inner.reset();
  EXPECT_NE(next_seed(), outer_seeds[0]);
}

TEST(NextSeed, DrawsNothingOfTorchsGenerator) {
  at::manual_seed(3);
  EXPECT_NE(next_seed(), next_seed());
  const at::Tensor drawn = at::rand({1});
  at::manual_seed(3);
  next_seed();
  EXPECT_TRUE(at::rand({1}).equal(drawn)) << "it drew of torch's generator";
}

TEST(NextSeed, TracesWithoutDrawing) {
  const std::vector<int64_t> seeds = seeds_of(4, 1);
  SeedScope scope(4);
  static const auto operation = ops::find<at::Tensor(const at::Tensor&)>("fewbit::next_seed");
  EXPECT_TRUE(operation.call(at::empty({2}, at::kMeta)).is_meta());
  EXPECT_EQ(next_seed(), seeds[0]);
}

}  // namespace fewbit::next_seed_test
