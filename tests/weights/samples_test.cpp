#include "weights/samples.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include <rapidcheck.h>

#include "tests/weights/support.hpp"

namespace fewbit::solver {
namespace {

using Numbers = std::vector<double>;

WeightSpec histogram_of(const Numbers& samples) {
  const std::string shape = "(" + std::to_string(samples.size()) + ",)";
  return read_text(SampleFormat::npy,
                   npy_text(npy_dictionary("<f8", shape), little_endian_bytes(samples)));
}

Numbers normal_samples(size_t count) {
  std::mt19937_64 generator(7);
  Numbers samples(count);
  for (double& sample : samples) {
    sample = 0.0;  // a sum of twelve: the same on every machine, unlike std::normal_distribution
    for (int i = 0; i < 12; ++i) sample += static_cast<double>(generator() >> 11) * 0x1p-53 - 0.5;
  }
  return samples;
}

double total(const Numbers& masses) {
  return std::accumulate(masses.begin(), masses.end(), 0.0);
}

TEST(Samples, MassesEqualANaiveCount) {
  EXPECT_TRUE(rc::check([] {
    const auto integers = *rc::gen::container<std::vector<int>>(rc::gen::inRange(-4000, 4000));
    Numbers samples;
    for (const int value : integers) samples.push_back(value * (value % 50 == 0 ? 1e3 : 1e-3));
    RC_PRE(!samples.empty());
    const double low = *std::min_element(samples.begin(), samples.end());
    const double high = *std::max_element(samples.begin(), samples.end());
    RC_PRE(low < high);
    const auto spec = histogram_of(samples);
    RC_ASSERT(spec.edges.front() == low);
    RC_ASSERT(spec.edges.back() == high);
    for (size_t i = 0; i < spec.masses.size(); ++i) {
      const auto count = std::count_if(samples.begin(), samples.end(), [&](double x) {
        return (x > spec.edges[i] || (i == 0 && x == low)) && x <= spec.edges[i + 1];
      });
      RC_ASSERT(spec.masses[i] == static_cast<double>(count) / static_cast<double>(samples.size()));
    }
  }));
}

TEST(Samples, CoverTheCoreWithEqualBins) {
  const auto spec = histogram_of(normal_samples(100000));
  EXPECT_NEAR(total(spec.masses), 1.0, 1e-14);
  EXPECT_LE(spec.masses.size(), kSampleBins);
  EXPECT_GE(spec.masses.size(), kSampleBins * 3 / 4);
  EXPECT_TRUE(spec.units.empty());
}

TEST(Samples, ReachOutliersWithEverWiderBins) {
  Numbers samples = normal_samples(100000);
  samples.push_back(1000.0);
  samples.push_back(-200.0);
  const auto spec = histogram_of(samples);
  EXPECT_EQ(spec.edges.front(), -200.0);
  EXPECT_EQ(spec.edges.back(), 1000.0);
  EXPECT_LE(spec.masses.size(), kSampleBins + 40);
  const auto weight = make_weight(spec);
  EXPECT_LT(weight->scale(), 0.1) << "the core keeps its resolution";
  EXPECT_NEAR(weight->density(0.05), 0.4, 0.05);
}

TEST(Samples, OfFewValuesGiveFewBins) {
  const auto spec = histogram_of({0.0, 1.0, 1.0, 0.0, 1.0, 3.0});
  EXPECT_LE(spec.masses.size(), 5u);
  EXPECT_EQ(spec.edges.back(), 3.0);
}

TEST(Samples, KeepTheirResolutionFarFromZero) {
  Numbers samples = normal_samples(20000);
  const auto plain = histogram_of(samples);
  for (double& sample : samples) sample += 1048576.0;
  const auto moved = histogram_of(samples);
  ASSERT_EQ(moved.edges.size(), plain.edges.size());
  EXPECT_NEAR(moved.edges[100] - 1048576.0, plain.edges[100], 1e-8);
}

TEST(Samples, OfATrainedModelHaveItsMomentsAndUnits) {
  const auto spec =
      read_samples_file(FEWBIT_SOURCE_DIR "/tests/data/gelu_inputs_step700_block2.npy");
  double mean = 0.0;
  for (size_t i = 0; i < spec.masses.size(); ++i) {
    mean += spec.masses[i] * 0.5 * (spec.edges[i] + spec.edges[i + 1]);
  }
  double unit_mean = 0.0;
  for (const UnitSpec& unit : spec.units) unit_mean += unit.mass * unit.mean;
  EXPECT_EQ(spec.units.size(), 384u);
  EXPECT_NEAR(total(spec.masses), 1.0, 1e-14);
  EXPECT_NEAR(mean, unit_mean, 1e-3);
  EXPECT_EQ(message_of([&] { make_weight(spec); }), "no error");
}

}  // namespace
}  // namespace fewbit::solver
