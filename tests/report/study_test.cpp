#include "report/study.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/error_report.hpp"
#include "report/order.hpp"
#include "report/paper_table.hpp"
#include "tests/report/support.hpp"

namespace fewbit::solver::study_test {

Study small() {
  Study study;
  study.functions = {parse_function("gelu"), parse_function("relu")};
  study.levels = {2, 8};
  study.forms = {Form::intervals, Form::levels};
  return study;
}

TEST(Study, HoldsEveryCombinationInOrder) {
  const auto problems = problems_of(small());
  ASSERT_EQ(problems.size(), 8U);
  EXPECT_EQ(problems[0].form, Form::intervals);
  EXPECT_EQ(problems[1].levels, 8);
  EXPECT_EQ(problems[4].function.name, "relu");
}

TEST(Study, SolvesNothingTwice) {
  Study study = small();
  study.functions.push_back(study.functions.front());
  EXPECT_EQ(problems_of(study).size(), 8U);
}

TEST(Study, DataBringItsOwnDomain) {
  const WeightSpec weight{"histogram", {}, {-3, 0, 5}, {0.5, 0.5}, {}};
  EXPECT_EQ(default_domain(weight), (Domain{-3, 5}));
  EXPECT_EQ(default_domain({}), (Domain{-10, 10}));
}

TEST(Study, ProblemWithoutAnswerKeepsItsReason) {
  Study study = small();
  study.functions = {parse_function("relu")};
  study.domain = Domain{1, 2};
  const auto results = solve_all(problems_of(study));
  for (const auto& result : results) {
    EXPECT_FALSE(result.table);
    EXPECT_THAT(result.failure, testing::HasSubstr("constant"));
  }
}

TEST(ErrorReport, ShowsBiasBesideErrorForEveryTable) {
  const auto results = solve_all(problems_of(small()));
  const auto sections = error_sections(results);
  const Section& all = sections[3];
  EXPECT_EQ(all.id, "tables");
  ASSERT_EQ(all.grid.rows.size(), 8U);
  EXPECT_EQ(all.figures.size(), 8U);
  EXPECT_EQ(all.grid.columns[7].name, "squared error");
  EXPECT_EQ(all.grid.columns[9].name, "smoothed bias");
  EXPECT_EQ(std::stod(all.grid.rows[3][7].exact), results[3].table->error);
  EXPECT_EQ(std::stod(all.grid.rows[3][9].exact), results[3].table->smoothed_bias);
}

TEST(ErrorReport, DigestHasOneColumnForEachSize) {
  const auto sections = error_sections(solve_all(problems_of(small())));
  const Grid& grid = sections.front().grid;
  ASSERT_EQ(grid.columns.size(), 4U);
  EXPECT_EQ(grid.columns[3].name, "3 bits");
  // The exact relu is named in a note.
  ASSERT_EQ(grid.rows.size(), 2U);
  EXPECT_EQ(grid.rows[1][3].text, "0.008094");
}

TEST(ErrorReport, NamesExactFunctionsOnce) {
  const auto sections = error_sections(exact_once(solve_all(problems_of(small()))));
  EXPECT_EQ(sections[0].notes.back(), "Exact, with error and bias 0: relu in 1 bit.");
  EXPECT_EQ(sections[3].grid.rows.size(), 5U);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(sections[i].grid.rows.size(), 2U);
    ASSERT_EQ(sections[i].figures.size(), 1U);
    EXPECT_EQ(sections[i].figures[0].title, "gelu");
  }
}

TEST(ErrorReport, UnfoldsLevelsAndThresholdsInFull) {
  const auto results = solve_all(problems_of(small()));
  const Table& table = *results[3].table;
  const Grid details = error_sections(results)[3].figures[3].details;
  ASSERT_EQ(details.rows.size(), table.codes.size());
  for (size_t i = 0; i < details.rows.size(); ++i) {
    const auto& row = details.rows[i];
    const auto code = static_cast<size_t>(std::stoi(row[1].text));
    EXPECT_EQ(static_cast<int>(code), table.codes[i]);
    EXPECT_EQ(std::stod(row[2].text), table.levels[code]);
    if (i < table.thresholds.size()) {
      EXPECT_EQ(std::stod(row[0].text), table.thresholds[i]);
    }
  }
  EXPECT_EQ(details.rows.back()[0].text, "inf");
}

TEST(ErrorReport, DrawsNoLineThroughASinglePoint) {
  Study study = small();
  study.levels = {4};
  const auto sections = error_sections(solve_all(problems_of(study)));
  EXPECT_TRUE(sections[0].figures.empty());
  EXPECT_TRUE(sections[1].figures.empty());
}

TEST(PaperTable, IsReachedEverywhere) {
  const Section section = paper_section();
  EXPECT_EQ(section.grid.rows.size(), 25U);
  for (const auto& row : section.grid.rows) EXPECT_EQ(row[4].text, "yes") << row[0].text;
}

TEST(PaperTable, LevelsAreNeverWorseThanIntervals) {
  for (const auto& row : paper_section().grid.rows) {
    EXPECT_LE(std::stod(row[5].exact), std::stod(row[3].exact) * (1 + 1e-9)) << row[0].text;
  }
}

}  // namespace fewbit::solver::study_test
