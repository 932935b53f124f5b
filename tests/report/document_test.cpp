#include "report/document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fewbit::solver::document_test {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

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

TEST(Markdown, IsWrittenAsExpected) {
  EXPECT_EQ(to_markdown(small()),
            "# Report\n\nSummary.\n\n## Errors\n\nA note with a < b.\n\n"
            "| function | error |\n|---|---:|\n| relu | 0 |\n| a\\|b, \"c\" | 0.0081 |\n");
}

TEST(Markdown, ShowsFormulasAsTheyAre) {
  Document document{"Report", "", {}};
  document.sections.push_back({"f", "F", {}, {}, {}, {}});
  document.sections[0].grid = {{{"function"}, {"f(x)", false, false, true}},
                               {{{"a"}, {"x*x*where(x<1, x|`, 2)"}}}};
  EXPECT_THAT(to_markdown(document), HasSubstr("\n| a | `` x*x*where(x<1, x\\|`, 2) `` |\n"));
  EXPECT_THAT(to_html(document), HasSubstr("<td><code>x*x*where(x&lt;1, x|`, 2)</code></td>"));
}

TEST(Csv, IsExactAndQuoted) {
  EXPECT_EQ(to_csv(small()), "function,error\nrelu,0\n\"a|b, \"\"c\"\"\",0.00809365\n");
}

TEST(Csv, SeveralGridsAreNamed) {
  Document document = small();
  document.sections.push_back(document.sections[0]);
  document.sections[1].title = "More";
  EXPECT_THAT(to_csv(document), StartsWith("# Errors\nfunction,error\n"));
  EXPECT_THAT(to_csv(document), HasSubstr("\n\n# More\nfunction,error\n"));
}

TEST(Csv, HasColumnsForProgramsThatPeopleAreSpared) {
  Document document = small();
  document.sections[0].grid.columns.push_back({"all digits", false, true});
  for (auto& row : document.sections[0].grid.rows) row.push_back({"1 2 3"});
  EXPECT_EQ(to_csv(document),
            "function,error,all digits\nrelu,0,1 2 3\n\"a|b, \"\"c\"\"\",0.00809365,1 2 3\n");
  EXPECT_EQ(to_markdown(document), to_markdown(small()));
  EXPECT_EQ(to_html(document), to_html(small()));
}

TEST(Provenance, IsInEveryFormat) {
  Document document = small();
  document.provenance = {{"command", "fewbit-solve report --expr 'x<`1`'"}, {"version", "1.2.3"}};
  EXPECT_THAT(to_csv(document),
              StartsWith("# command: fewbit-solve report --expr 'x<`1`'\n# version: 1.2.3\n"
                         "function,error\n"));
  EXPECT_THAT(to_markdown(document),
              EndsWith("\n## Provenance\n\n- command: `` fewbit-solve report --expr 'x<`1`' ``\n"
                       "- version: `1.2.3`\n"));
  EXPECT_THAT(to_html(document), HasSubstr("<dt>command</dt><dd><code>fewbit-solve report --expr "
                                           "'x&lt;`1`'</code></dd>"));
}

TEST(Details, AreFoldedInMarkdownAndHtml) {
  Document document = small();
  document.sections[0].figures[0].details_title = "Levels";
  document.sections[0].figures[0].details = {{{"code"}, {"level", true}}, {{{"0"}, {"0.25"}}}};
  EXPECT_THAT(to_markdown(document),
              EndsWith("\n<details><summary>gelu: 3 bits</summary>\n\n"
                       "| code | level |\n|---|---:|\n| 0 | 0.25 |\n\n</details>\n"));
  EXPECT_THAT(to_html(document), HasSubstr("<details><summary>Levels</summary>"));
  EXPECT_EQ(to_csv(document), to_csv(small()));
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

TEST(Html, TablesAndPicturesSpeakToThoseWhoDoNotSeeThem) {
  Document document = small();
  document.sections[0].legend = {{"levels", 0}};
  const std::string page = to_html(document);
  for (const char* part : {"<th scope=\"col\">function</th>", "<th scope=\"row\">relu</th>",
                           "role=\"region\" aria-label=\"Errors\"", "<html lang=\"en\">",
                           "aria-hidden=\"true\">", "<nav aria-label=\"Sections\">"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
}

}  // namespace fewbit::solver::document_test
