// How places are kept: against every way there is.
#include "planner/memory_choice.hpp"

#include <algorithm>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace fewbit::session::memory_choice_test {

using Places = std::vector<MemoryPlan::Place>;
using Roots = std::vector<std::optional<size_t>>;

struct Sum {
  int64_t bytes = 0;
  double seconds = 0.0;
  bool is_possible = true;  ///< what is rebuilt is so of codes
};

Sum sum_of(const Places& places, const Roots& roots) {
  Sum sum;
  for (size_t i = 0; i < places.size(); ++i) {
    sum.bytes += places[i].choice().bytes;
    sum.seconds += places[i].choice().seconds;
    sum.is_possible &= places[i].choice().keep != Keep::rebuilt ||
                       (roots[i] && places[*roots[i]].choice().keep == Keep::coded);
  }
  return sum;
}

/// The least time within the bytes, and the fewest bytes there are.
std::pair<std::optional<double>, int64_t> least_of_all(Places places, const Roots& roots,
                                                       int64_t bytes) {
  std::optional<double> seconds;
  int64_t fewest = std::numeric_limits<int64_t>::max();
  while (true) {
    const Sum sum = sum_of(places, roots);
    if (sum.is_possible) fewest = std::min(fewest, sum.bytes);
    if (sum.is_possible && sum.bytes <= bytes && (!seconds || sum.seconds < *seconds)) {
      seconds = sum.seconds;
    }
    size_t i = 0;
    while (i < places.size() && places[i].chosen + 1 == places[i].choices.size()) {
      places[i++].chosen = 0;
    }
    if (i == places.size()) return {seconds, fewest};
    ++places[i].chosen;
  }
}

Places places_drawn(std::mt19937& random, Roots& roots) {
  const auto draw = [&](int below) { return static_cast<int64_t>(random() % below); };
  Places places(2 + static_cast<size_t>(draw(5)));
  roots.assign(places.size(), std::nullopt);
  for (size_t i = 0; i < places.size(); ++i) {
    const int64_t exact = 64 * (1 + draw(40));
    const auto seconds = [&] { return static_cast<double>(draw(100)) * 1e-4; };
    auto& choices = places[i].choices;
    choices = {{Keep::coded, exact / 16, seconds()}, {Keep::exact, exact, 0.0}};
    if (draw(3) > 0) choices.push_back({Keep::swapped, 0, seconds()});
    if (i == 0 || draw(2) > 0) continue;
    size_t root = static_cast<size_t>(draw(static_cast<int>(i)));
    if (roots[root]) continue;
    roots[i] = root;
    choices.push_back({Keep::rebuilt, 0, seconds()});
  }
  return places;
}

TEST(MemoryChoice, IsTheFastestThatFits) {
  std::mt19937 random(3);
  for (int turn = 0; turn < 2000; ++turn) {
    Roots roots;
    Places places = places_drawn(random, roots);
    const auto bytes = static_cast<int64_t>(random() % 6000);
    const auto [seconds, fewest] = least_of_all(places, roots, bytes);
    choose(places, roots, bytes);
    const Sum found = sum_of(places, roots);
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
  Places places(60);
  Roots roots(places.size(), 0);
  roots[0].reset();
  int64_t all = 0;
  for (MemoryPlan::Place& place : places) {
    const int64_t exact = 1000 + static_cast<int64_t>(random() % 1000);
    const auto seconds = [&] { return 1e-4 * static_cast<double>(1 + random() % 100); };
    place.choices = {{Keep::exact, exact, 0.0}, {Keep::coded, exact / 16, seconds()}};
    if (&place != places.data()) place.choices.push_back({Keep::rebuilt, 0, seconds()});
    all += exact;
  }
  double slower = 0.0;
  for (const int64_t bytes : {all, all / 2, all / 8, all / 64}) {
    const double price = choose(places, roots, bytes);
    const Sum found = sum_of(places, roots);
    EXPECT_TRUE(found.is_possible);
    EXPECT_LE(found.bytes, bytes);
    EXPECT_GT(found.bytes, bytes - all / 100);  // hundreds of combinations leave little unused
    EXPECT_EQ(price > 0.0, bytes < all);
    EXPECT_GE(found.seconds, slower);
    slower = found.seconds;
  }
}

TEST(MemoryChoice, HasNothingToDoWithoutPlaces) {
  Places places;
  EXPECT_EQ(choose(places, {}, 100), 0.0);
}

}  // namespace fewbit::session::memory_choice_test
