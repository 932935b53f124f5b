#include <string>

#include "tests/cli/program.hpp"

namespace fewbit::report_files_test {

using ReportFiles = Program;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST_F(ReportFiles, AreExactlyWhatIsReported) {
  ASSERT_EQ(run("--fn gelu --bits 3 -o a.json").code, 0);
  ASSERT_EQ(run("--fn silu --bits 2 --form intervals -o b.json").code, 0);
  const Outcome outcome = run("report b.json a.json --sort given");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("\n| silu(beta=1) | intervals, uniform | 0.04785 | - |\n"
                                     "| gelu | levels, uniform | - | 0.008094 |\n"));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("| relative gap | file |\n"), HasSubstr(" | a.json |\n"),
                                 HasSubstr(" | b.json |\n"), Not(HasSubstr("tanh"))));
  EXPECT_THAT(outcome.out,
              HasSubstr("\n- tables: `2 read from files and proven again, found by fewbit "));
}

TEST_F(ReportFiles, ThatDoNotVerifyAreRefused) {
  ASSERT_EQ(run("--fn gelu --bits 2 -o a.json").code, 0);
  std::string text = read("a.json");
  const size_t at = text.find("\"thresholds\": [-0.469");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 21, "\"thresholds\": [-0.479");
  write("b.json", text);
  expect_refused("report a.json b.json -o page.html", 1, "b.json: does not verify: ");
  EXPECT_FALSE(exists("page.html"));
  write("c.json", "{");
  expect_refused("report c.json", 1, "c.json");
  expect_refused("report missing.json", 1, "missing.json: cannot read");
}

TEST_F(ReportFiles, StandAloneWithoutProblemsBeside) {
  ASSERT_EQ(run("--fn gelu --bits 2 -o a.json").code, 0);
  for (const char* option : {"--fn gelu", "--expr x*x --name a", "--bits 3", "--form levels",
                             "--weight uniform", "--domain -1,1", "--objective squared"}) {
    expect_refused(std::string("report a.json ") + option, 2, "does not go with table files");
  }
  expect_refused("report a.json --regret", 2, "--regret does not go with table files");
}

TEST_F(ReportFiles, FittedToDifferentDataKeepTheirNamesApart) {
  write("one.csv", "-2,1\n-1,2\n0,2\n1,1\n2\n");
  write("two.csv", "-3,1\n-1,2\n0,5\n1,1\n2\n");
  for (const char* name : {"one", "two"}) {
    const std::string stem(name);
    ASSERT_EQ(
        run("--fn gelu --bits 2 --weight histogram:" + stem + ".csv -o " + stem + ".json").code, 0);
  }
  const std::string text = run("report one.json two.json").out;
  EXPECT_THAT(text, AllOf(HasSubstr("| levels, histogram of 4 bins, one.json"),
                          HasSubstr("| levels, histogram of 4 bins, two.json")));
  const std::string solved =
      run("report --fn gelu --bits 2 --weight histogram:one.csv --weight histogram:two.csv").out;
  EXPECT_THAT(solved, AllOf(HasSubstr("| levels, histogram of 4 bins, one.csv"),
                            HasSubstr("| levels, histogram of 4 bins, two.csv")));
}

}  // namespace fewbit::report_files_test
