#include <algorithm>
#include <sstream>
#include <vector>

#include "tests/cli/program.hpp"

namespace fewbit::report_test {

/// All lines but comments.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("#")) lines.push_back(line);
  }
  return lines;
}

using Report = Program;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(Report, MarkdownHoldsDigestAndTables) {
  const std::string text = run("report --fn gelu --bits 1-3 --form intervals,levels").out;
  EXPECT_THAT(text, HasSubstr("| function | table | 1 bit | 2 bits | 3 bits |\n"));
  EXPECT_THAT(text, HasSubstr("| gelu | intervals, uniform | 0.141 | 0.04056 | 0.0119 |\n"));
  EXPECT_THAT(text, HasSubstr("| gelu | levels, uniform | 0.141 | 0.04056 | 0.008094 |\n"));
  EXPECT_THAT(text, HasSubstr("| smoothed bias |"));
}

TEST_F(Report, CsvHasOneLineForEachTable) {
  ASSERT_EQ(run("report --fn gelu,elu:alpha=0.5 --bits 2,3 --weight normal:0,1 --weight uniform "
                "-o errors.csv")
                .code,
            0);
  const std::string text = read("errors.csv");
  EXPECT_THAT(text,
              StartsWith("# command: fewbit-solve report --fn gelu,elu:alpha=0.5 --bits 2,3"));
  EXPECT_THAT(text,
              HasSubstr("\nfunction,form,weight,domain,bits,levels,thresholds,squared error"));
  EXPECT_EQ(lines_of(text).size(), 9U);
  EXPECT_THAT(text, HasSubstr("\nelu(alpha=0.5),levels,\"normal(0, 1)\",\"[-10, 10]\",2,4,"));
}

TEST_F(Report, SmoothedObjectiveStandsBesideTheSquaredOne) {
  const std::string text =
      run("report --fn gelu --bits 2 --weight normal:0,1 --objective squared --objective smoothed")
          .out;
  EXPECT_THAT(text, HasSubstr("| gelu | levels, normal(0, 1) |"));
  EXPECT_THAT(text, HasSubstr("| gelu | smoothed, normal(0, 1) |"));
}

TEST_F(Report, PaperTableIsOneCommandAndReached) {
  const std::string text = run("report --table1").out;
  EXPECT_THAT(text, HasSubstr("| gelu | 3 | 0.0119 | 0.01190 | yes | 0.00809 | 32.0 % |"));
  EXPECT_EQ(text.find("| no |"), std::string::npos);
}

TEST_F(Report, RegretMarksTheSmallestWorstCase) {
  const std::string text = run("report --regret --fn gelu --bits 2").out;
  EXPECT_THAT(text, HasSubstr(" (smallest) |"));
  EXPECT_THAT(text, HasSubstr("| sigma 0.25 | sigma 0.5 | sigma 1 | sigma 2 | sigma 4 |"));
  expect_refused("report --regret --fn relu", 1, "exact");
}

TEST_F(Report, PageHoldsAPictureOfEveryTable) {
  ASSERT_EQ(run("report --fn gelu,silu --bits 1-3 --regret --table1 -o page.html").code, 0);
  const std::string page = read("page.html");
  EXPECT_THAT(page, StartsWith("<!DOCTYPE html>"));
  for (const char* part : {"id=\"error\"", "id=\"gap\"", "id=\"tables\"", "id=\"paper\"",
                           "id=\"regret\"", "<b>silu(beta=1), 3 bits</b>"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
}

TEST_F(Report, IsTheSameOnEveryRun) {
  const std::string command = "report --fn gelu,silu,selu --bits 1-4 --format html";
  EXPECT_EQ(run(command).out, run(command).out);
}

}  // namespace fewbit::report_test
