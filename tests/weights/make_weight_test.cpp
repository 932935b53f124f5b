#include <limits>

#include "base/text.hpp"
#include "tests/weights/support.hpp"

namespace fewbit::solver::make_weight_test {
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string refusal(const WeightSpec& spec) {
  return message_of([&] { make_weight(spec); });
}

TEST(MakeWeight, RefusesAnUnknownKindAndNamesTheNearest) {
  WeightSpec spec;
  spec.kind = "nomral";
  EXPECT_EQ(refusal(spec),
            "unknown weight 'nomral', nearest: normal; accepted: uniform, normal:MEAN,SIGMA, "
            "mixture:MIN,MAX, laplace:MEAN,SCALE, student-t:MEAN,SCALE,DEGREES, histogram:FILE, "
            "samples:FILE");
}

TEST(MakeWeight, RefusesMissingUnknownAndRepeatedParameters) {
  EXPECT_EQ(refusal(pair_spec("normal", {"mean", 0.0}, {"mean", 0.0})),
            "weight normal: two values for mean");
  EXPECT_EQ(refusal(pair_spec("normal", {"mean", 0.0}, {"spread", 1.0})),
            "weight normal: unknown parameter spread, accepted: mean, sigma");
  auto spec = normal_spec(0.0, 1.0);
  spec.parameters.pop_back();
  EXPECT_EQ(refusal(spec), "weight normal: sigma is missing");
  spec = normal_spec(0.0, 1.0);
  spec.kind = "uniform";
  EXPECT_EQ(refusal(spec), "weight uniform: unknown parameter mean, accepted: none");
}

TEST(MakeWeight, RefusesSigmasOutOfRange) {
  for (const double sigma : {0.0, -1.0, 1e-13, 1e13, kNan, kInfinity}) {
    EXPECT_THROW(make_weight(normal_spec(0.0, sigma)), Error) << sigma;
    EXPECT_THROW(make_weight(mixture_spec(sigma, 4.0)), Error) << sigma;
    EXPECT_THROW(make_weight(mixture_spec(0.25, sigma)), Error) << sigma;
  }
  EXPECT_EQ(refusal(normal_spec(0.0, 0.0)),
            "weight normal: sigma is 0, accepted are 1e-12 to 1e+12");
}

TEST(MakeWeight, RefusesAMeanTooFarForItsSigma) {
  EXPECT_EQ(refusal(normal_spec(2e9, 1.0)),
            "weight normal: mean is 2e+09, accepted are at most 1e+09 sigmas");
  EXPECT_THROW(make_weight(normal_spec(kNan, 1.0)), Error);
}

TEST(MakeWeight, RefusesScalesAndDegreesOutOfRange) {
  EXPECT_EQ(refusal(pair_spec("laplace", {"mean", 0.0}, {"scale", 0.0})),
            "weight laplace: scale is 0, accepted are 1e-12 to 1e+12");
  EXPECT_EQ(refusal(pair_spec("laplace", {"mean", 2e9}, {"scale", 1.0})),
            "weight laplace: mean is 2e+09, accepted are at most 1e+09 scales");
  EXPECT_EQ(refusal(pair_spec("student-t", {"mean", 0.0}, {"scale", 1.0})),
            "weight student-t: degrees is missing");
  for (const double degrees : {0.0, -1.0, 1e-4, 2e9, kNan, kInfinity}) {
    EXPECT_EQ(
        refusal(student_t_spec(0.0, 1.0, degrees)),
        "weight student-t: degrees is " + shortest(degrees) + ", accepted are 0.001 to 1e+09");
  }
}

TEST(MakeWeight, RefusesAMixtureWithoutRange) {
  EXPECT_EQ(refusal(mixture_spec(4.0, 0.25)),
            "weight mixture: sigma_min 4 must be less than sigma_max 0.25");
  EXPECT_THROW(make_weight(mixture_spec(1.0, 1.0)), Error);
}

TEST(MakeWeight, RefusesHistogramsThatAreNone) {
  EXPECT_EQ(refusal(histogram_spec({}, {})), "histogram: has no bins");
  EXPECT_EQ(refusal(histogram_spec({0, 1}, {1, 1})), "histogram: 2 masses need 3 edges, got 2");
  EXPECT_EQ(refusal(histogram_spec({0, 2, 1}, {1, 1})),
            "histogram: edges must ascend: 2 is followed by 1");
  EXPECT_EQ(refusal(histogram_spec({0, kInfinity}, {1})),
            "histogram: edge inf is not a number within +-1e+100");
  EXPECT_EQ(refusal(histogram_spec({0, 1, 2}, {1, -1})),
            "histogram: mass -1 of bin 2 is not a number from 0 to 1e+100");
  EXPECT_EQ(refusal(histogram_spec({0, 1, 2}, {0, 0})), "histogram: the total is zero");
  EXPECT_THROW(make_weight(histogram_spec({0, kNan, 2}, {1, 1})), Error);
  EXPECT_THROW(make_weight(histogram_spec({0, 1, 2}, {kNan, 1})), Error);
}

TEST(MakeWeight, RefusesUnitsWithoutSpreadOrShare) {
  auto spec = histogram_spec({0, 1}, {1});
  spec.units = {{0.5, 0.0, 1.0}};
  EXPECT_THROW(make_weight(spec), Error);
  spec.units = {{0.5, 0.1, 0.7}};
  EXPECT_EQ(refusal(spec), "histogram: masses of the units sum to 0.7, not 1");
  spec.units = {{0.5, 0.1, 0.75}, {0.5, 0.1, 0.25}};
  EXPECT_EQ(refusal(spec), "no error");
}

TEST(MakeWeight, RefusesEdgesOutsideAHistogram) {
  auto spec = normal_spec(0.0, 1.0);
  spec.edges = {0.0, 1.0};
  EXPECT_EQ(refusal(spec), "weight normal: takes neither edges nor masses nor units");
}
}  // namespace fewbit::solver::make_weight_test
