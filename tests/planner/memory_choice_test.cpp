// How sites are kept: against every way there is.
#include "planner/memory_choice.hpp"

#include <algorithm>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace fewbit::session::memory_choice_test {

using Places = std::vector<MemoryPlan::Site>;
using Roots = std::vector<std::optional<size_t>>;

struct Sum {
  int64_t bytes = 0;
  double seconds = 0.0;
  bool is_possible = true;  ///< what is recomputed is so of codes
};

Sum sum_of(const Places& sites, const Roots& roots) {
  Sum sum;
  for (size_t i = 0; i < sites.size(); ++i) {
    sum.bytes += sites[i].choice().bytes;
    sum.seconds += sites[i].choice().seconds;
    sum.is_possible &= sites[i].choice().storage != Storage::recomputed ||
                       (roots[i] && sites[*roots[i]].choice().storage == Storage::coded);
  }
  return sum;
}

/// The least time within the bytes, and the fewest bytes there are.
std::pair<std::optional<double>, int64_t> least_of_all(Places sites, const Roots& roots,
                                                       int64_t bytes) {
  std::optional<double> seconds;
  int64_t fewest = std::numeric_limits<int64_t>::max();
  while (true) {
    const Sum sum = sum_of(sites, roots);
    if (sum.is_possible) fewest = std::min(fewest, sum.bytes);
    if (sum.is_possible && sum.bytes <= bytes && (!seconds || sum.seconds < *seconds)) {
      seconds = sum.seconds;
    }
    size_t i = 0;
    while (i < sites.size() && sites[i].chosen + 1 == sites[i].choices.size()) {
      sites[i++].chosen = 0;
    }
    if (i == sites.size()) return {seconds, fewest};
    ++sites[i].chosen;
  }
}

Places places_drawn(std::mt19937& random, Roots& roots) {
  const auto draw = [&](int below) { return static_cast<int64_t>(random() % below); };
  Places sites(2 + static_cast<size_t>(draw(5)));
  roots.assign(sites.size(), std::nullopt);
  for (size_t i = 0; i < sites.size(); ++i) {
    const int64_t exact = 64 * (1 + draw(40));
    const auto seconds = [&] { return static_cast<double>(draw(100)) * 1e-4; };
    auto& choices = sites[i].choices;
    choices = {{Storage::coded, exact / 16, seconds()}, {Storage::exact, exact, 0.0}};
    if (draw(3) > 0) choices.push_back({Storage::offloaded, 0, seconds()});
    if (i == 0 || draw(2) > 0) continue;
    size_t root = static_cast<size_t>(draw(static_cast<int>(i)));
    if (roots[root]) continue;
    roots[i] = root;
    choices.push_back({Storage::recomputed, 0, seconds()});
  }
  return sites;
}

TEST(MemoryChoice, IsTheFastestThatFits) {
  std::mt19937 random(3);
  for (int turn = 0; turn < 2000; ++turn) {
    Roots roots;
    Places sites = places_drawn(random, roots);
    const auto bytes = static_cast<int64_t>(random() % 6000);
    const auto [seconds, fewest] = least_of_all(sites, roots, bytes);
    choose(sites, roots, bytes);
    const Sum found = sum_of(sites, roots);
    ASSERT_TRUE(found.is_possible) << turn;
    if (seconds) {
      ASSERT_LE(found.bytes, bytes) << turn;
      ASSERT_NEAR(found.seconds, *seconds, 1e-12) << turn;
    } else {
      ASSERT_EQ(found.bytes, fewest) << turn;
    }
  }
}

TEST(MemoryChoice, LargeFamiliesAreChosenFromToo) {
  std::mt19937 random(4);
  Places sites(60);
  Roots roots(sites.size(), 0);
  roots[0].reset();
  int64_t all = 0;
  for (MemoryPlan::Site& place : sites) {
    const int64_t exact = 1000 + static_cast<int64_t>(random() % 1000);
    const auto seconds = [&] { return 1e-4 * static_cast<double>(1 + random() % 100); };
    place.choices = {{Storage::exact, exact, 0.0}, {Storage::coded, exact / 16, seconds()}};
    if (&place != sites.data()) place.choices.push_back({Storage::recomputed, 0, seconds()});
    all += exact;
  }
  double slower = 0.0;
  for (const int64_t bytes : {all, all / 2, all / 8, all / 64}) {
    const double price = choose(sites, roots, bytes);
    const Sum found = sum_of(sites, roots);
    EXPECT_TRUE(found.is_possible);
    EXPECT_LE(found.bytes, bytes);
    EXPECT_GT(found.bytes, bytes - all / 100);  // hundreds of combinations leave little unused
    EXPECT_EQ(price > 0.0, bytes < all);
    EXPECT_GE(found.seconds, slower);
    slower = found.seconds;
  }
}

TEST(MemoryChoice, HasNothingToDoWithoutPlaces) {
  Places sites;
  EXPECT_EQ(choose(sites, {}, 100), 0.0);
}

}  // namespace fewbit::session::memory_choice_test
