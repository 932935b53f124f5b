#include "report/document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fewbit::solver {

namespace {

using testing::HasSubstr;
using testing::Not;

Document small() {
  Section section;
  section.id = "errors";
  section.title = "Errors";
  section.notes = {"A note with a < b."};
  section.grid = {{{"function"}, {"error", true}},
                  {{{"relu"}, {"0"}}, {{"a|b, \"c\""}, {"0.0081", "0.00809365"}}}};
  section.figures = {{"gelu", "3 bits", "<svg></svg>"}};
  return {"Report", "Summary.", {section}};
}

}  // namespace

TEST(Markdown, IsWrittenAsExpected) {
  EXPECT_EQ(to_markdown(small()),
            "# Report\n\nSummary.\n\n## Errors\n\nA note with a < b.\n\n"
            "| function | error |\n|---|---:|\n| relu | 0 |\n| a\\|b, \"c\" | 0.0081 |\n");
}

TEST(Csv, IsExactAndQuoted) {
  EXPECT_EQ(to_csv(small()), "function,error\nrelu,0\n\"a|b, \"\"c\"\"\",0.00809365\n");
}

TEST(Csv, SeveralGridsAreNamed) {
  Document document = small();
  document.sections.push_back(document.sections[0]);
  document.sections[1].title = "More";
  EXPECT_THAT(to_csv(document), testing::StartsWith("# Errors\nfunction,error\n"));
  EXPECT_THAT(to_csv(document), HasSubstr("\n\n# More\nfunction,error\n"));
}

TEST(Csv, LeavesDigestsOut) {
  Document document = small();
  document.sections.push_back(document.sections[0]);
  document.sections[1].in_csv = false;
  EXPECT_EQ(to_csv(document), to_csv(small()));
}

TEST(Html, IsOneSelfContainedPageForPhonesAndDarkMode) {
  const std::string page = to_html(small());
  EXPECT_THAT(page, HasSubstr("name=\"viewport\""));
  EXPECT_THAT(page, HasSubstr("prefers-color-scheme:dark"));
  EXPECT_THAT(page, HasSubstr("overflow-x:auto"));
  EXPECT_THAT(page, HasSubstr("A note with a &lt; b."));
  for (const char* outside : {"http://", "https://", "<script", "<link", "@import", "url("}) {
    EXPECT_THAT(page, Not(HasSubstr(outside)));
  }
}

}  // namespace fewbit::solver
