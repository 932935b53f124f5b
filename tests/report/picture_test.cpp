#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/chart_svg.hpp"
#include "report/svg.hpp"
#include "report/table_svg.hpp"
#include "tests/report/support.hpp"

namespace fewbit::solver {

namespace {

using testing::HasSubstr;

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

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

TEST(Chart, IsWellFormedAndLeavesZerosOut) {
  const std::vector<Series> series{{"a", 0, {1, 2, 3}, {0.1, 0.01, 0.0}}};
  const std::string svg = error_chart("errors", series);
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_EQ(count(svg, "<path"), 2U);
}

TEST(DotChart, DrawsSmallValuesAtTheFloor) {
  const std::vector<Series> series{{"a", 1, {0.0, 1e-9}, {0, 1}}};
  const std::string svg = dot_chart("gaps", {"gelu", "silu"}, series, 1e-13, 1e-9);
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_EQ(count(svg, "<path"), 2U);
}

}  // namespace fewbit::solver
