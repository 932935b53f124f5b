#include "report/describe.hpp"

#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/curve.hpp"
#include "report/names.hpp"
#include "report/terminal_plot.hpp"
#include "tests/report/support.hpp"

namespace fewbit::solver::describe_test {

using testing::HasSubstr;
using testing::Not;

TEST(Describe, NamesProblemTableAndProof) {
  const std::string text = describe(solved("gelu", 8), false);
  for (const char* part :
       {"gelu: f(x) = ", "levels form, squared error, weight uniform, domain [-10, 10]",
        "3 bits, 9 thresholds", "(-inf, -2.34", "squared error     0.00809365", "lower bound",
        "relative gap", "smoothed bias"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(Describe, EvenTableSpeaksOfTheMagnitude) {
  const std::string text = describe(solved("tanh", 4), false);
  EXPECT_THAT(text, HasSubstr("|x| in"));
  EXPECT_THAT(text, HasSubstr("[0, "));
}

Table smoothed(const char* function, int levels) {
  Problem problem;
  problem.function = parse_function(function);
  problem.levels = levels;
  problem.weight = {"normal", {{"mean", 0}, {"sigma", 1}}, {}, {}, {}};
  problem.objective.smoothed = true;
  return solve(problem);
}

TEST(Describe, ExactTableCostsNothing) {
  EXPECT_THAT(describe(smoothed("relu", 2), false),
              HasSubstr("price             0.00 % over the proven squared optimum"));
}

TEST(Describe, SmoothedTableSaysThatItIsALocalOptimum) {
  const std::string text = describe(smoothed("gelu", 4), false);
  EXPECT_THAT(text, HasSubstr("local optimum"));
  EXPECT_THAT(text, HasSubstr("% over the proven squared optimum"));
  EXPECT_THAT(text, Not(HasSubstr("no table of this form and size is better")));
}

TEST(Describe, ManyIntervalsAreAbbreviated) {
  const std::string text = describe(solved("gelu", 256), false);
  EXPECT_THAT(text, HasSubstr("more rows: --json prints all"));
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 80);
}

TEST(Describe, ColourIsOnlyThereWhenAsked) {
  const Table table = solved("gelu", 4);
  EXPECT_THAT(describe(table, false), Not(HasSubstr("\033")));
  EXPECT_THAT(describe(table, true), HasSubstr("\033[33m"));
}

TEST(TerminalPlot, HasFifteenRowsAndTwoOfAxis) {
  const std::string text = terminal_plot(sample_curve(solved("silu", 8), 480), false);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 17);
  EXPECT_THAT(text, Not(HasSubstr(" \n")));
}

TEST(TerminalPlot, FillsTheWidthAndNoMore) {
  const Curve curve = sample_curve(solved("silu", 8), 480);
  for (const int width : {40, 80, 160}) {
    const std::string text = terminal_plot(curve, false, width);
    const size_t axis = text.find("└");
    // Eight columns of labels and a blank; each character of the axis has three bytes.
    EXPECT_EQ(9 + (text.find('\n', axis) - axis) / 3, width);
  }
  EXPECT_EQ(terminal_plot(curve, false, 3), terminal_plot(curve, false, 40));
}

TEST(Names, OneIsSingular) {
  Table table;
  table.levels = {0.5};
  EXPECT_EQ(size_name(table), "1 level in 1 bit");
  table.levels = {0.0, 0.5, 1.0};
  EXPECT_EQ(size_name(table), "3 levels in 2 bits");
}

TEST(Describe, SizesStandBesideEachOther) {
  const std::string text = compare({solved("gelu", 2), solved("gelu", 8)});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_THAT(text, HasSubstr("\n  1 bit "));
  EXPECT_THAT(text, HasSubstr("\n  3 bits "));
}

TEST(RmsError, IsTheRootOfTheMeanOverTheDomain) {
  const Table table = solved("gelu", 8);
  EXPECT_NEAR(rms_error(table), std::sqrt(table.error / 20.0), 1e-9);
}

TEST(RmsError, UsesTheMassInsideTheDomain) {
  Problem problem;
  problem.function = parse_function("gelu");
  problem.weight = {"normal", {{"mean", 0}, {"sigma", 1}}, {}, {}, {}};
  problem.domain = {-1, 1};
  const Table table = solve(problem);
  EXPECT_NEAR(rms_error(table), std::sqrt(table.error / 0.6826894921370859), 1e-7);
}

TEST(Names, ParametersAndEndsAreWritten) {
  EXPECT_EQ(function_name(parse_function("elu:alpha=0.5")), "elu(alpha=0.5)");
  EXPECT_EQ(domain_name({-HUGE_VAL, 3}), "(-inf, 3]");
  EXPECT_EQ(weight_name({"normal", {{"mean", 0}, {"sigma", 1}}, {}, {}, {}}), "normal(0, 1)");
}

}  // namespace fewbit::solver::describe_test
