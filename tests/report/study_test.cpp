#include "report/study.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/error_report.hpp"
#include "report/paper_table.hpp"
#include "tests/report/support.hpp"

namespace fewbit::solver {

namespace {

Study small() {
  Study study;
  study.functions = {parse_function("gelu"), parse_function("relu")};
  study.levels = {2, 8};
  study.forms = {Form::intervals, Form::levels};
  return study;
}

}  // namespace

TEST(Study, HoldsEveryCombinationInOrder) {
  const auto problems = problems_of(small());
  ASSERT_EQ(problems.size(), 8U);
  EXPECT_EQ(problems[0].form, Form::intervals);
  EXPECT_EQ(problems[1].levels, 8);
  EXPECT_EQ(problems[4].function.name, "relu");
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
  const Section& all = sections.back();
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
  EXPECT_EQ(grid.rows[1][3].text, "0.008094");
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

}  // namespace fewbit::solver
