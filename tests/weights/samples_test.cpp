#include "weights/samples.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include <rapidcheck.h>

#include "base/text.hpp"
#include "tests/weights/support.hpp"
#include "weights/discrete.hpp"
#include "weights/sample_cells.hpp"

namespace fewbit::solver::samples_test {
using Numbers = std::vector<double>;

WeightSpec histogram_of(const Numbers& samples) {
  const std::string shape = "(" + std::to_string(samples.size()) + ",)";
  return read_text(kNpy, npy_text(npy_dictionary("<f8", shape), little_endian_bytes(samples)));
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
    for (const int value : integers)
      samples.push_back(value * (value % 50 == 0 ? 0x1p10 : 0x1p-10));
    RC_PRE(!samples.empty());
    const double low = *std::min_element(samples.begin(), samples.end());
    const double high = *std::max_element(samples.begin(), samples.end());
    RC_PRE(low < high);
    const auto spec = histogram_of(samples);
    RC_ASSERT(spec.edges.front() == just_before(low));
    RC_ASSERT(spec.edges.back() == high);
    for (size_t i = 0; i < spec.masses.size(); ++i) {
      const auto count = std::count_if(samples.begin(), samples.end(), [&](double x) {
        return x > spec.edges[i] && x <= spec.edges[i + 1];
      });
      RC_ASSERT(spec.masses[i] == static_cast<double>(count) / static_cast<double>(samples.size()));
    }
  }));
}

TEST(Samples, BecomeAboutAThousandBins) {
  const auto spec = histogram_of(normal_samples(100000));
  EXPECT_NEAR(total(spec.masses), 1.0, 1e-14);
  EXPECT_LE(spec.masses.size(), kSampleBins * 5 / 4);
  EXPECT_GE(spec.masses.size(), kSampleBins);
  EXPECT_LE(*std::max_element(spec.masses.begin(), spec.masses.end()), 1.0 / kSampleBins);
  EXPECT_TRUE(spec.units.empty());
}

/// The width of the bin that holds x.
double width_around(const WeightSpec& spec, double x) {
  const auto right = std::lower_bound(spec.edges.begin(), spec.edges.end(), x);
  return *right - *(right == spec.edges.begin() ? right : right - 1);
}

TEST(Samples, KeepTheirBinsWhateverOneOutlierIs) {
  Numbers samples = normal_samples(20000);
  const auto plain = histogram_of(samples);
  for (const double outlier : {1e5, 1e6, -1e9, 1e100}) {
    samples[77] = outlier;
    const auto spec = histogram_of(samples);
    EXPECT_LE(spec.masses.size(), plain.masses.size() + 20) << outlier;
    EXPECT_LE(width_around(spec, 0.3), 0.01) << outlier;
    EXPECT_LE(width_around(spec, outlier), 1e-13 * std::fabs(outlier)) << outlier;
    const bool low = outlier < 0.0;
    EXPECT_NEAR(low ? spec.masses.front() : spec.masses.back(), 1.0 / 20000.0, 1e-12);
    EXPECT_EQ(low ? spec.masses[1] : spec.masses.rbegin()[1], 0.0) << "nothing between";
  }
}

TEST(Samples, GiveRepeatedValuesBinsOfTheirOwn) {
  Numbers samples = normal_samples(20000);
  for (size_t i = 0; i < 1000; ++i) samples[i] = -1e9;
  for (size_t i = 1000; i < 9000; ++i) samples[i] = 0.0;
  const auto spec = histogram_of(samples);
  EXPECT_EQ(spec.masses.front(), 0.05);
  EXPECT_LE(spec.edges[1] - spec.edges[0], 1e-4);
  const auto zero = std::lower_bound(spec.edges.begin(), spec.edges.end(), 0.0);
  EXPECT_EQ(*zero, 0.0) << "bins end with their samples";
  EXPECT_EQ(spec.masses[static_cast<size_t>(zero - spec.edges.begin()) - 1], 0.4);
  EXPECT_EQ(width_around(spec, 0.0), 1e-80);
  EXPECT_LE(width_around(spec, 1.0), 0.03);
  EXPECT_EQ(message_of([&] { make_weight(spec); }), "no error");
}

TEST(Samples, OfFewValuesAreTheseValues) {
  const auto spec = histogram_of({0.0, 1.0, 1.0, 0.0, 1.0, 3.0});
  ASSERT_EQ(spec.masses.size(), 5u);
  EXPECT_EQ(spec.masses[0], 2.0 / 6);
  EXPECT_EQ(spec.masses[2], 3.0 / 6);
  EXPECT_EQ(spec.masses[4], 1.0 / 6);
  EXPECT_EQ(spec.edges.front(), -1e-80);
  EXPECT_EQ(spec.edges.back(), 3.0);
}

FittedSamples fit(const Numbers& samples, double clip = 1.0) {
  return fit_text({SampleFormat::Kind::raw, ItemType::Kind::f64}, little_endian_bytes(samples),
                  clip);
}

TEST(Samples, OfFewValuesAreKeptAsTheyAre) {
  const auto values = fit({3.0, 0.0, 1.0, -0.0, 1.0, 1e-90, 1.0, 0.0}).values;
  ASSERT_TRUE(values.has_value());
  EXPECT_EQ(values->kind, "samples");
  EXPECT_EQ(values->values, (Numbers{0.0, 1.0, 3.0}));
  EXPECT_EQ(values->masses, (Numbers{0.5, 0.375, 0.125}));
}

TEST(Samples, OfMoreThan1024ValuesAreNot) {
  Numbers samples;
  for (int i = 0; i < 3000; ++i) samples.push_back(i % 1024);
  ASSERT_TRUE(fit(samples).values.has_value());
  EXPECT_EQ(fit(samples).values->values.size(), kMostValues);
  samples.push_back(0.5);
  EXPECT_FALSE(fit(samples).values.has_value());
}

TEST(Samples, ThatAreClippedCountAtTheEnds) {
  Numbers samples;
  for (int i = 0; i < 100; ++i) samples.push_back(i);
  const auto values = fit(samples, 0.95).values;
  ASSERT_TRUE(values.has_value());
  EXPECT_EQ(values->values.front(), 5.0);
  EXPECT_EQ(values->values.back(), 94.0);
  EXPECT_NEAR(values->masses.front(), 0.06, 1e-15);
  EXPECT_NEAR(total(values->masses), 1.0, 1e-14);
}

TEST(Samples, ThatAreNeighbouringDoublesCountAsOneNumber) {
  Numbers samples = {0.0, 2.0};
  for (double x = 1.0; samples.size() < 10; x = std::nextafter(x, 2.0)) samples.push_back(x);
  const auto spec = histogram_of(samples);
  EXPECT_EQ(std::count(spec.masses.begin(), spec.masses.end(), 0.8), 1);
  EXPECT_EQ(spec.masses.size(), 5u);
}

TEST(Samples, BeyondAQuantileCountAsIt) {
  Numbers samples;
  for (int i = 0; i < 1000; ++i) samples.push_back(i * 0.25);
  samples[3] = -1e9;
  samples[500] = 1e9;
  const std::string shape = "(" + std::to_string(samples.size()) + ",)";
  const auto text = npy_text(npy_dictionary("<f8", shape), little_endian_bytes(samples));
  const auto fitted = fit_text(kNpy, text, 0.99);
  // Ten of them on either side: -1e9 and 0 to 2.25 without 0.75; 1e9 and 247.75 up.
  EXPECT_EQ(fitted.summary.least, 2.5);
  EXPECT_EQ(fitted.summary.greatest, 247.5);
  EXPECT_EQ(fitted.weight.edges.front(), just_before(2.5));
  EXPECT_EQ(fitted.weight.edges.back(), 247.5);
  EXPECT_NEAR(fitted.weight.masses.front(), 0.011, 1e-15);
  EXPECT_EQ(fit_text(kNpy, text, 1.0).weight.edges.back(), 1e9);
}

TEST(Samples, AreClippedWhenGoneOverAgain) {
  std::istringstream in("5,1,2,3,4,100,3,2,3,3");
  Samples samples(in, kCsv, "data");
  fit_samples(samples, 0.9);
  double sum = 0.0;
  samples.for_each_block([&](std::span<const double> block) {
    for (const double sample : block) sum += sample;
  });
  EXPECT_EQ(sum, 5 + 2 + 2 + 3 + 4 + 5 + 3 + 2 + 3 + 3);
}

TEST(Samples, WarnWhenFewCarryMostOfTheSquares) {
  Numbers samples = normal_samples(20000);
  const auto summary_of = [](const Numbers& numbers) {
    return fit_text(kRaw, little_endian_bytes(std::vector<float>(numbers.begin(), numbers.end())))
        .summary;
  };
  EXPECT_NEAR(summary_of(samples).share_of_few, 0.012, 0.002);
  EXPECT_NEAR(summary_of(samples).median, 0.0, 0.02);
  EXPECT_TRUE(sample_warnings(summary_of(samples)).empty());
  samples[5] = 1e4;
  EXPECT_GT(summary_of(samples).share_of_few, 0.99);
  const auto lines = sample_warnings(summary_of(samples));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0],
            "20 of 20000 samples carry 99 % of the sum of squares about the median (samples "
            "reach from " +
                shortest(summary_of(samples).least) + " to 10000): --clip 0.999 limits them");
  samples.resize(50);
  EXPECT_NE(sample_warnings(summary_of(samples)).at(0).find("--clip 0.95 "), std::string::npos);
  samples.resize(19);
  EXPECT_TRUE(sample_warnings(summary_of(samples)).empty());
}

TEST(Samples, KeepTheirResolutionFarFromZero) {
  Numbers samples = normal_samples(20000);
  const auto plain = histogram_of(samples);
  for (double& sample : samples) sample += 1048576.0;
  const auto moved = histogram_of(samples);
  EXPECT_NEAR(static_cast<double>(moved.edges.size()), static_cast<double>(plain.edges.size()), 40);
  EXPECT_NEAR(width_around(moved, 1048576.0), width_around(plain, 0.0), 2e-3);
}

TEST(Samples, OfATrainedModelHaveItsMomentsAndUnits) {
  const auto spec = read_file(FEWBIT_SOURCE_DIR "/tests/data/gelu_inputs_step700_block2.npy");
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
}  // namespace fewbit::solver::samples_test
