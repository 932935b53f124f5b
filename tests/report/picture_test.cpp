#include <cmath>
#include <regex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/chart_svg.hpp"
#include "report/svg.hpp"
#include "report/table_svg.hpp"
#include "tests/report/support.hpp"

namespace fewbit::solver::picture_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// Texts that may reach beyond the left or right end of the picture.
std::vector<std::string> cut_labels(const std::string& svg) {
  static const std::regex width("viewBox=\"0 0 ([0-9.]+) ");
  static const std::regex text(
      "<text class=\"t ([a-z]*)\" x=\"([0-9.-]+)\" y=\"[0-9.-]+\" text-anchor=\"([a-z]+)\""
      "( textLength=\"([0-9.]+)\"[^>]*)?>([^<]*)</text>");
  std::smatch size;
  const double end = std::regex_search(svg, size, width) ? std::stod(size[1]) : 0.0;
  std::vector<std::string> cut;
  for (std::sregex_iterator it(svg.begin(), svg.end(), text), last; it != last; ++it) {
    const auto& found = *it;
    const double length =
        found[5].matched ? std::stod(found[5]) : text_width(found[1].str(), found[6].str());
    const double share = found[3] == "start" ? 0.0 : (found[3] == "end" ? 1.0 : 0.5);
    const double left = std::stod(found[2]) - share * length;
    // Coordinates are printed with two decimals.
    if (left < -0.01 || left + length > end + 0.01) cut.push_back(found[6]);
  }
  return cut;
}

Table wide_table(const std::string& name) {
  Problem problem;
  problem.function = custom_function(name, "1000*x*sigmoid(x/1000)");
  problem.domain = {-65504, 65504};
  return solve(problem);
}

TEST(XmlFault, FindsWhatIsWrong) {
  EXPECT_EQ(xml_fault("<svg><g a=\"1\"/>x &amp; y</svg>"), "");
  for (const char* wrong : {"<svg>", "<svg></g>", "<svg>a & b</svg>", "<svg>a < b</svg>",
                            "<svg a=1></svg>", "<svg a=\"&\"></svg>", "<a></a><b></b>"}) {
    EXPECT_NE(xml_fault(wrong), "") << wrong;
  }
}

TEST(Picture, IsWellFormedForEveryFormAndSize) {
  for (const Form form : {Form::intervals, Form::levels, Form::unbiased}) {
    for (const int levels : {2, 8, 64}) {
      const Table table = solved("gelu", levels, form);
      EXPECT_EQ(xml_fault(table_picture(table)), "");
      EXPECT_EQ(xml_fault(table_thumbnail(table)), "");
    }
  }
}

TEST(Picture, DrawsEveryStepRiseAndThreshold) {
  const Table table = solved("gelu", 8);
  const std::string svg = table_picture(table);
  EXPECT_EQ(count(svg, "<line class=\"rise\""), table.thresholds.size());
  EXPECT_EQ(count(svg, "<line class=\"cut\""), table.thresholds.size());
  // One more is in the legend.
  EXPECT_EQ(count(svg, "<line class=\"step\""), table.codes.size() + 1);
  EXPECT_EQ(count(svg, "class=\"t code\""), 2 * table.levels.size());
}

TEST(Picture, FollowsTheViewerIntoDarkMode) {
  const std::string svg = table_picture(solved("gelu", 4));
  EXPECT_THAT(svg, HasSubstr("prefers-color-scheme:dark"));
  EXPECT_THAT(svg, HasSubstr("within "));
}

TEST(Picture, EscapesNames) {
  Problem problem;
  problem.function = custom_function("act", "where(x < 0, 0, x*sigmoid(x))");
  problem.levels = 4;
  EXPECT_EQ(xml_fault(table_picture(solve(problem))), "");
  EXPECT_EQ(escape_xml("a<b & \"c\">"), "a&lt;b &amp; &quot;c&quot;&gt;");
}

TEST(Picture, CutsNoLabel) {
  EXPECT_THAT(cut_labels("<svg viewBox=\"0 0 20 9\"><text class=\"t \" x=\"4\" y=\"5\" "
                         "text-anchor=\"end\">12</text></svg>"),
              ElementsAre("12"));
  for (const auto& name : {std::string("act"), std::string(64, 'a')}) {
    const Table table = wide_table(name);
    EXPECT_THAT(cut_labels(table_picture(table)), IsEmpty());
    EXPECT_THAT(cut_labels(table_thumbnail(table)), IsEmpty());
    const std::vector<Series> series{{"a", 0, {0.0, 1.0}, {0, 0}}};
    EXPECT_THAT(cut_labels(dot_chart("gaps", {name}, series, {1e-13, 1.0, 1e-9})), IsEmpty());
  }
  EXPECT_THAT(cut_labels(dot_chart("gaps", {std::string(200, 'a')}, {}, {1e-13, 1.0, 1e-9})),
              IsEmpty());
  const std::vector<Series> series{{"a", 0, {1, 8}, {123456.0, 1e-12}}};
  EXPECT_THAT(cut_labels(bits_chart("errors", series)), IsEmpty());
}

TEST(Picture, TicksDoNotRunIntoEachOther) {
  static const std::regex tick("x=\"([0-9.]+)\" y=\"217\" text-anchor=\"middle\">([^<]*)</text>");
  const std::string svg = table_thumbnail(wide_table("act"));
  double end = 0.0;
  size_t ticks = 0;
  for (std::sregex_iterator it(svg.begin(), svg.end(), tick), last; it != last; ++it, ++ticks) {
    const double half = text_width("", (*it)[2].str()) / 2;
    EXPECT_GT(std::stod((*it)[1]) - half, end) << (*it)[2];
    end = std::stod((*it)[1]) + half;
  }
  EXPECT_GE(ticks, 3U);
}

TEST(Picture, DrawsTheDensityOfTheInputs) {
  Problem problem;
  problem.function = parse_function("gelu");
  problem.weight = {"histogram", {}, {-3, -1, 0, 3}, {0.2, 0.6, 0.2}, {}};
  problem.domain = {-3, 3};
  const Table table = solve(problem);
  EXPECT_EQ(count(table_thumbnail(table), "class=\"density\""), 1U);
  const auto density = sample_curve(table, 100).density;
  ASSERT_FALSE(density.empty());
  for (const auto& point : density) {
    // 0.1, 0.6 and 0.2 / 3 per unit of length; columns that hold an edge mix two of them.
    if (std::abs(point.x + 1) < 0.05 || std::abs(point.x) < 0.05) continue;
    const double height = point.x < -1 ? 0.1 : (point.x < 0 ? 0.6 : 0.2 / 3);
    EXPECT_NEAR(point.y, height / 0.6, 1e-12) << point.x;
  }
}

TEST(Chart, IsWellFormedAndLeavesZerosOut) {
  const std::vector<Series> series{{"a", 0, {1, 2, 3}, {0.1, 0.01, 0.0}}};
  const std::string svg = bits_chart("errors", series);
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_EQ(count(svg, "<path"), 2U);
}

TEST(DotChart, DrawsSmallValuesAtTheFloor) {
  const std::vector<Series> series{{"a", 1, {0.0, 1e-9}, {0, 1}}};
  const std::string svg = dot_chart("gaps", {"gelu", "silu"}, series, {1e-13, 1e-8, 1e-9});
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_EQ(count(svg, "<path"), 2U);
}

}  // namespace fewbit::solver::picture_test
