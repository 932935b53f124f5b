// Which elements drown their neighbours: against the definition written out, on every instruction
// set.
#include "kernels/quantizer/extremes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "tests/kernels/rotated_support.hpp"
#include "tests/kernels/support.hpp"

namespace fewbit::kernels::extremes_test {

using rotated::bytes_of;
using rotated::normal;
using rotated::values_of;
using Places = std::vector<int64_t>;

std::vector<Extreme> found_in(ElementType type, const std::vector<uint8_t>& bytes, int64_t count) {
  std::vector<Extreme> found;
  find_extremes(type, bytes.data(), count, 0, neighbourhoods(count), found);
  return found;
}

Places places_of(const std::vector<Extreme>& extremes) {
  Places places;
  for (const Extreme& extreme : extremes) places.push_back(extreme.place);
  return places;
}

long double mean_of(const std::vector<long double>& x) {
  long double sum = 0.0L;
  for (const long double value : x) sum += value;
  return sum / static_cast<long double>(x.size());
}

long double energy_of(const std::vector<long double>& x) {
  const long double mean = mean_of(x);
  long double sum = 0.0L;
  for (const long double value : x) sum += (value - mean) * (value - mean);
  return sum;
}

/// The definition, of one neighbourhood.
Places reference(const std::vector<double>& x, int64_t first) {
  std::vector<long double> rest(x.begin(), x.end());
  Places places;
  for (size_t i = 0; i < x.size(); ++i) places.push_back(first + static_cast<int64_t>(i));
  if (!std::isfinite(energy_of(rest))) return {};
  if (4 * std::ranges::count(rest, 0.0L) > 3 * static_cast<int64_t>(x.size())) return {};
  const long double all = energy_of(rest);
  Places taken;
  while (true) {
    const long double mean = mean_of(rest);
    const auto furthest = std::ranges::max_element(
        rest, {}, [&](long double value) { return std::fabs(value - mean); });
    if (8.0L * (*furthest - mean) * (*furthest - mean) <= energy_of(rest)) break;
    const auto place = places.begin() + (furthest - rest.begin());
    taken.push_back(*place);
    rest.erase(furthest);
    places.erase(place);
    if (static_cast<int>(taken.size()) > kMostExtremes) return {};
  }
  if (2.0L * energy_of(rest) > all) return {};
  std::ranges::sort(taken);
  return taken;
}

Places reference_of_run(const std::vector<double>& x) {
  const auto count = static_cast<int64_t>(x.size());
  Places all;
  const int64_t groups = neighbourhoods(count);
  for (int64_t i = 0; i < groups; ++i) {
    const auto end = i + 1 == groups ? x.end() : x.begin() + (i + 1) * kNeighbours;
    const Places own = reference({x.begin() + i * kNeighbours, end}, i * kNeighbours);
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

/// Tails of every kind: powers of what is normal, some elements much greater.
std::vector<double> heavy(int64_t count, uint32_t seed) {
  std::mt19937 engine(seed);
  std::vector<double> x = normal(count, seed, 1.0, seed % 3 == 0 ? 5.0 : 0.0);
  std::uniform_int_distribution<size_t> place(0, x.size() - 1);
  for (double& value : x) value *= std::pow(std::fabs(value), seed % 4);
  for (uint32_t i = 0; i < seed % 7 * static_cast<uint32_t>(count / kNeighbours + 1); ++i) {
    x[place(engine)] *= 30.0 * (1 + i % 5);
  }
  return x;
}

TEST(Extremes, AreThoseOfTheDefinition) {
  int found = 0;
  for (const auto type :
       {ElementType::f32, ElementType::f64, ElementType::bf16, ElementType::f16}) {
    for (const int64_t count : {63, 64, 100, 255, 256, 511, 1024, 1100}) {
      for (uint32_t seed = 0; seed < 40; ++seed) {
        const auto bytes = bytes_of(type, heavy(count, seed));
        const Places expected = reference_of_run(values_of(type, bytes));
        found += static_cast<int>(expected.size());
        for_each_target([&](int64_t) {
          ASSERT_EQ(places_of(found_in(type, bytes, count)), expected) << count << ' ' << seed;
        });
      }
    }
  }
  EXPECT_GT(found, 1000);
}

TEST(Extremes, AreLookedForInEveryRangeAlike) {
  const std::vector<double> x = heavy(1024, 5);
  const Places expected = reference_of_run(x);
  ASSERT_FALSE(expected.empty());
  for (const double scale : {0x1p-120, 0x1p-70, 0x1p70, 0x1p100}) {
    std::vector<double> scaled = x;
    for (double& value : scaled) value *= scale;
    EXPECT_EQ(places_of(found_in(ElementType::f32, bytes_of(ElementType::f32, scaled), 1024)),
              places_of(found_in(ElementType::f32, bytes_of(ElementType::f32, x), 1024)));
    EXPECT_EQ(places_of(found_in(ElementType::f64, bytes_of(ElementType::f64, scaled), 1024)),
              expected);
  }
}

TEST(Extremes, AreNoneBesideWhatIsNotFinite) {
  std::vector<double> x = normal(512, 3);
  x[20] = 1e5;
  x[300] = 1e5;
  x[40] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(places_of(found_in(ElementType::f32, bytes_of(ElementType::f32, x), 512)), Places{300});
}

TEST(Extremes, AreToBeReplacedByTheMeanOfTheOthers) {
  std::vector<double> x = normal(256, 3, 1.0, 40.0);
  x[20] = -2e3;
  const auto found = found_in(ElementType::f64, bytes_of(ElementType::f64, x), 256);
  ASSERT_EQ(places_of(found), Places{20});
  double sum = 0.0;
  for (size_t i = 0; i < x.size(); ++i) sum += i == 20 ? 0.0 : x[i] / 255.0;
  EXPECT_NEAR(found[0].instead, sum, 1e-10);
}

std::optional<Fill> fill_in(const std::vector<double>& x, ElementType type = ElementType::f32) {
  return find_fill(type, bytes_of(type, x).data(), static_cast<int64_t>(x.size()));
}

TEST(Fill, IsWhatAMaskPutsIn) {
  for (const int64_t count : {1024, 5000, 1 << 17}) {
    for (const double share : {0.06, 0.5, 0.9}) {
      std::mt19937 engine(7);
      std::bernoulli_distribution is_masked(share);
      std::vector<double> x = normal(count, 3, 2.0);
      for (double& value : x) value = is_masked(engine) ? -1e4 : value;
      const auto fill = fill_in(x);
      ASSERT_TRUE(fill) << count << ' ' << share;
      EXPECT_EQ(fill->value, -1e4);
      EXPECT_LT(fill->near, 100.0);
    }
  }
}

TEST(Fill, IsNoneOfWhatHasNoGap) {
  for (const int power : {1, 2, 3, 5, 9}) {
    std::vector<double> x = normal(1 << 14, 3);
    for (double& value : x) value = std::pow(value, power);
    EXPECT_FALSE(fill_in(x)) << power;
  }
  EXPECT_FALSE(fill_in(std::vector<double>(4096, 3.0)));
  EXPECT_FALSE(fill_in(std::vector<double>(4096, 0.0)));
  EXPECT_FALSE(fill_in(std::vector<double>(63, 1e5)));
}

TEST(Fill, IsNoneOfFewElements) {
  for (const int64_t count : {64, 100, 420, 1024, 4000}) {
    for (uint32_t seed = 0; seed < 2000; ++seed) {
      std::vector<double> x = normal(count, seed);
      ASSERT_FALSE(fill_in(x)) << count << ' ' << seed;
      for (double& value : x) value = value * value * value;
      ASSERT_FALSE(fill_in(x)) << count << ' ' << seed;
    }
  }
}

// Two scales in one run, and nothing that many are near.
TEST(Fill, IsNoneOfNumbersThatDoNotGoTogether) {
  std::vector<double> x = normal(1 << 14, 3);
  for (size_t i = 0; i < x.size(); i += 3) x[i] = (1000.0 + static_cast<double>(i)) * 100.0;
  EXPECT_FALSE(fill_in(x));
}

}  // namespace fewbit::kernels::extremes_test
