// The generated quantisers of N(0, 1) against the distribution itself.
#include "generated/normal_quantizer.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "codegen/generate.hpp"
#include "codegen/normal_quantizer.hpp"
#include "functions/quantizers.hpp"
#include "functions/registry.hpp"

namespace fewbit::codegen::normal_quantizer_test {

using generated::normal_quantizer;
using generated::NormalQuantizer;
using solver::Table;

constexpr int kMostBits = 8;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double density(double x) {
  return std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi);
}

/// Of N(0, 1) above x.
double mass_above(double x) {
  return 0.5 * (1.0 - std::erf(x / std::numbers::sqrt2));
}

/// The ends of the positive intervals, 0 and infinity among them.
std::vector<double> ends_of(const NormalQuantizer& quantizer) {
  const int inner = (1 << (quantizer.bits - 1)) - 1;
  std::vector<double> ends = {0.0};
  ends.insert(ends.end(), quantizer.thresholds, quantizer.thresholds + inner);
  ends.push_back(kInfinity);
  return ends;
}

TEST(NormalQuantizer, HasLevelsThatAreTheMeansOfTheirIntervals) {
  for (int bits = 1; bits <= kMostBits; ++bits) {
    const NormalQuantizer& quantizer = normal_quantizer(bits);
    ASSERT_EQ(quantizer.bits, bits);
    const std::vector<double> ends = ends_of(quantizer);
    for (size_t i = 0; i + 1 < ends.size(); ++i) {
      const double mass = mass_above(ends[i]) - mass_above(ends[i + 1]);
      const double mean = (density(ends[i]) - density(ends[i + 1])) / mass;
      EXPECT_NEAR(static_cast<double>(quantizer.levels[i]), mean, 1e-6) << bits << " bits, " << i;
    }
  }
}

TEST(NormalQuantizer, HasThresholdsMidwayBetweenLevels) {
  for (int bits = 1; bits <= kMostBits; ++bits) {
    const NormalQuantizer& quantizer = normal_quantizer(bits);
    for (int i = 0; i + 1 < 1 << (bits - 1); ++i) {
      EXPECT_NEAR(quantizer.thresholds[i],
                  0.5 * (static_cast<double>(quantizer.levels[i]) + quantizer.levels[i + 1]), 1e-6)
          << bits << " bits, " << i;
    }
  }
}

/// The stated error is the upper end of what quadrature leaves: it is never below the true one.
TEST(NormalQuantizer, StatesTheMeanSquaredError) {
  for (int bits = 1; bits <= kMostBits; ++bits) {
    const NormalQuantizer& quantizer = normal_quantizer(bits);
    const std::vector<double> ends = ends_of(quantizer);
    double error = 0.5;
    for (size_t i = 0; i + 1 < ends.size(); ++i) {
      const auto level = static_cast<double>(quantizer.levels[i]);
      const double mass = mass_above(ends[i]) - mass_above(ends[i + 1]);
      error += level * (level * mass - 2.0 * (density(ends[i]) - density(ends[i + 1])));
    }
    EXPECT_GE(quantizer.error, 2.0 * error - 1e-13) << bits << " bits";
    EXPECT_LE(quantizer.error, 2.0 * error + 1e-9 * error + 1e-11) << bits << " bits";
  }
}

/// Max 1960, Table I: four digits, of which the last one of 4 bits (.009497) is 4 too small.
TEST(NormalQuantizer, HasTheErrorsOfMax) {
  const double published[] = {.3634, .1175, .03454, .009497};
  for (int bits = 1; bits <= 4; ++bits) {
    const double expected = published[bits - 1];
    EXPECT_NEAR(normal_quantizer(bits).error, expected, 5e-4 * expected) << bits << " bits";
  }
}

/// The shipped tables of the quantiser, by bits.
std::vector<Table> shipped_tables() {
  std::vector<Table> tables;
  for (Table& table : load_tables(FEWBIT_SOURCE_DIR "/tables")) {
    if (table.problem.function.name == solver::kValueQuantizer) tables.push_back(std::move(table));
  }
  return tables;
}

/// Beyond 5 bits the 1e-11 that quadrature may hide is more than the 8e-10 of the error at which
/// the search stops.
TEST(NormalQuantizer, IsProvenToWhatQuadratureLeaves) {
  const double most[kMostBits] = {1e-9, 1e-9, 1e-9, 1e-9, 1e-9, 1e-8, 1e-7, 1e-6};
  const std::vector<Table> tables = shipped_tables();
  ASSERT_EQ(tables.size(), size_t{kMostBits});
  for (size_t i = 0; i < tables.size(); ++i) EXPECT_LE(tables[i].relative_gap, most[i]) << i + 1;
}

TEST(NormalQuantizer, NeedsSymmetricTables) {
  const std::vector<Table> good = shipped_tables();
  EXPECT_EQ(normal_quantizer_files(good).size(), 1u);
  for (const double change : {1e-4, -1e-4}) {
    std::vector<Table> bad = good;
    bad[2].levels.back() += change;
    EXPECT_THROW(normal_quantizer_files(bad), Error);
    bad = good;
    bad[2].thresholds.front() += change;
    EXPECT_THROW(normal_quantizer_files(bad), Error);
    bad = good;
    bad[0].thresholds[0] = change;
    EXPECT_THROW(normal_quantizer_files(bad), Error);
  }
}

TEST(NormalQuantizer, NeedsOneTableOfN01ForEachNumberOfBits) {
  const std::vector<Table> good = shipped_tables();
  EXPECT_TRUE(normal_quantizer_files({}).empty());
  for (const size_t missing : {size_t{0}, size_t{3}, size_t{7}}) {
    std::vector<Table> bad = good;
    bad.erase(bad.begin() + static_cast<std::ptrdiff_t>(missing));
    EXPECT_THROW(normal_quantizer_files(bad), Error) << missing;
  }
  std::vector<Table> wide = good;
  wide[4].problem.weight.parameters[1].second = 2.0;
  EXPECT_THROW(normal_quantizer_files(wide), Error);
}

TEST(NormalQuantizer, IsNoActivation) {
  const Files files = generate_files(shipped_tables());
  EXPECT_TRUE(files.contains("normal_quantizer.hpp"));
  for (const solver::FunctionSpec& quantizer : solver::quantizers()) {
    EXPECT_THROW(solver::find_function(quantizer.name), Error);
    EXPECT_FALSE(files.contains(quantizer.name + ".hpp"));
    EXPECT_FALSE(files.contains("cuda/" + quantizer.name + ".cu"));
    EXPECT_EQ(files.at("registry.inc").find(quantizer.name), std::string::npos);
  }
}

}  // namespace fewbit::codegen::normal_quantizer_test
