// Means and variances of group quantisation's random roundings, exactly as stated, by fixed seeds.
#include <gtest/gtest.h>

#include "tests/kernels/group_reference.hpp"

namespace fewbit::kernels::group_rounding_test {

constexpr ElementType kTypes[] = {ElementType::f32, ElementType::bf16, ElementType::f16,
                                  ElementType::f64};
constexpr size_t kGroup = 64;

/// The mean of draws of one group's elements, less the elements, and their mean square.
struct Error {
  std::vector<double> mean = std::vector<double>(kGroup, 0.0);
  std::vector<double> square = std::vector<double>(kGroup, 0.0);
};

Error errors(GroupFormat format, const std::vector<double>& x, int draws) {
  Error error;
  for (int draw = 0; draw < draws; ++draw) {
    format.random = {99, static_cast<uint64_t>(draw)};
    const std::vector<double> back = coded(format, x);
    for (size_t i = 0; i < kGroup; ++i) {
      error.mean[i] += (back[i] - x[i]) / draws;
      error.square[i] += (back[i] - x[i]) * (back[i] - x[i]) / draws;
    }
  }
  return error;
}

/// Elements of a group as the type has them, its ends among them.
std::vector<double> group_of(ElementType type) {
  return elements(bytes_of(normal_inputs(kGroup, 3), type), type);
}

/// Where the element lies: how far the levels beside it are apart, and where between them.
struct Place {
  double step;
  double fraction;
};

Place place_of(const GroupFormat& format, const std::vector<double>& x, size_t i) {
  const ReferenceConstants of = reference_constants(format.type, x);
  const double most = (1 << format.bits) - 1;
  const double step = 2.0 * of.half_range / most;
  const double t = (x[i] - of.minimum) / step;
  if (format.rounding != Rounding::squares) return {step, t - std::floor(t)};
  const double below = std::floor(std::sqrt(t * most));
  const double gap = 2.0 * below + 1.0;
  return {step / most * gap, (t * most - below * below) / gap};
}

/// A 16-bit type rounds the result besides.
double slack(ElementType type, double x) {
  return element_bytes(type) == 2 ? std::fabs(x) / (type == ElementType::bf16 ? 256 : 2048) : 0.0;
}

constexpr int kDraws = 4000;

class BetweenLevels : public testing::TestWithParam<Rounding> {};

TEST_P(BetweenLevels, TheElementIsTheMeanAndTheVarianceExact) {
  for (const ElementType type : kTypes) {
    const std::vector<double> x = group_of(type);
    for (const int bits : {1, 2, 4, 8}) {
      const GroupFormat format{type, bits, kGroup, GetParam()};
      const Error error = errors(format, x, kDraws);
      for (size_t i = 0; i < kGroup; ++i) {
        const auto [step, f] = place_of(format, x, i);
        const double variance = f * (1 - f) * step * step;
        const double rounding = slack(type, std::fabs(x[i]) + step);
        ASSERT_LE(std::fabs(error.mean[i]), 5 * std::sqrt(variance / kDraws) + 1e-6 + rounding)
            << type_name(type) << ' ' << bits << " bits, element " << i;
        // Of (x' - x)^2, whose two values are (f step)^2 and ((1 - f) step)^2.
        const double deviation = std::sqrt(f * (1 - f)) * std::fabs(1 - 2 * f) * step * step;
        ASSERT_NEAR(error.square[i], variance,
                    5 * deviation / std::sqrt(kDraws) + 2e-5 * step + 2 * step * rounding +
                        rounding * rounding)
            << type_name(type) << ' ' << bits << " bits, element " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(GroupRounding, BetweenLevels,
                         testing::Values(Rounding::stochastic, Rounding::squares));

// What they are for: few large elements, many small ones, none below zero.
TEST(GroupRounding, SquaresErrLessOnProbabilities) {
  std::mt19937 random(5);
  std::normal_distribution<double> logarithm(0.0, 2.0);
  std::vector<double> x(kGroup);
  for (double& value : x) value = std::exp(logarithm(random));
  const std::vector<double> given = elements(bytes_of(x, ElementType::f32), ElementType::f32);
  const auto error_of = [&](int bits, Rounding rounding) {
    double total = 0.0;
    for (const double square :
         errors({ElementType::f32, bits, kGroup, rounding}, given, kDraws).square) {
      total += square;
    }
    return total;
  };
  for (const int bits : {2, 3, 4}) {
    EXPECT_LT(error_of(bits, Rounding::squares), 0.6 * error_of(bits, Rounding::stochastic));
  }
}

TEST(GroupRounding, DitheredHasTheElementAsItsMeanAndATwelfthOfAStepSquaredWhereverItIs) {
  for (const ElementType type : kTypes) {
    const std::vector<double> x = group_of(type);
    for (const int bits : {1, 2, 4, 8}) {
      const GroupFormat format{type, bits, kGroup, Rounding::dithered};
      const Error error = errors(format, x, kDraws);
      for (size_t i = 0; i < kGroup; ++i) {
        const double step = place_of(format, x, i).step;
        const double rounding = slack(type, std::fabs(x[i]) + step);
        ASSERT_LE(std::fabs(error.mean[i]), 5 * step / std::sqrt(12.0 * kDraws) + rounding)
            << type_name(type) << ' ' << bits << " bits, element " << i;
        // A uniform number's square has the deviation step^2 / sqrt(180).
        ASSERT_NEAR(
            error.square[i], step * step / 12,
            5 * step * step / std::sqrt(180.0 * kDraws) + step * rounding + rounding * rounding)
            << type_name(type) << ' ' << bits << " bits, element " << i;
      }
    }
  }
}

/// All 64 elements in one z, so that a small common bias would show.
TEST(GroupRounding, HasNoBiasInCommonOfAllElements) {
  for (const Rounding rounding : {Rounding::stochastic, Rounding::dithered, Rounding::squares}) {
    for (const int bits : {1, 2, 4, 8}) {
      for (const double offset : {0.0, 100.0}) {
        std::vector<double> x = normal_inputs(kGroup, 4);
        for (double& value : x) value = static_cast<double>(static_cast<float>(value + offset));
        const GroupFormat format{ElementType::f32, bits, kGroup, rounding};
        const Error error = errors(format, x, kDraws);
        double sum = 0.0;
        double variance = 0.0;
        for (size_t i = 0; i < kGroup; ++i) {
          const auto [step, f] = place_of(format, x, i);
          sum += error.mean[i];
          variance += (rounding == Rounding::dithered ? 1.0 / 12 : f * (1 - f)) * step * step;
        }
        EXPECT_LE(std::fabs(sum), 4 * std::sqrt(variance / kDraws) + 64 * 1e-6) << bits;
      }
    }
  }
}

TEST(GroupRounding, ToNearestIsWithinHalfAStep) {
  for (const ElementType type : kTypes) {
    const std::vector<double> x = group_of(type);
    for (int bits = 1; bits <= 8; ++bits) {
      const GroupFormat format{type, bits, kGroup, Rounding::nearest};
      const std::vector<double> back = coded(format, x);
      for (size_t i = 0; i < kGroup; ++i) {
        const double step = place_of(format, x, i).step;
        ASSERT_LE(std::fabs(back[i] - x[i]), 0.5 * step + 1e-6 + slack(type, x[i]) + 1e-3 * step);
      }
    }
  }
}

TEST(GroupRounding, AnotherSeedOrOffsetGivesOtherCodes) {
  const std::vector<uint8_t> x = bytes_of(normal_inputs(2000, 9), ElementType::f32);
  const auto codes = [&](PhiloxState random) {
    return run_group_encode({ElementType::f32, 2, 64, Rounding::stochastic, random}, x).codes;
  };
  EXPECT_EQ(codes({1, 2}), codes({1, 2}));
  EXPECT_NE(codes({1, 2}), codes({2, 2}));
  EXPECT_NE(codes({1, 2}), codes({1, 3}));
}

}  // namespace fewbit::kernels::group_rounding_test
