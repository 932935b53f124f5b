#include <string>

#include "tests/cli/program.hpp"

namespace fewbit::report_own_test {

using ReportOwn = Program;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST_F(ReportOwn, FunctionsAreReportedAlone) {
  const std::string text =
      run("report --expr 'x*sigmoid(1.702*x)' --name quick --expr 'x*tanh(x)' --name even --bits 2")
          .out;
  EXPECT_THAT(text, AllOf(HasSubstr("\n| quick | levels, uniform |"),
                          HasSubstr("\n| even | levels, uniform |"), Not(HasSubstr("gelu"))));
  EXPECT_THAT(text, HasSubstr("\n| quick | `x * sigmoid(1.702 * x)` |\n"));
}

TEST_F(ReportOwn, FunctionsStandBesideBuiltInOnes) {
  const std::string text = run("report --expr 'x*tanh(x)' --name mine --fn gelu --bits 2").out;
  EXPECT_THAT(text,
              AllOf(HasSubstr("\n| mine | levels, uniform |"), HasSubstr("\n| gelu | levels, ")));
}

TEST_F(ReportOwn, EachExpressionHasItsName) {
  for (const char* arguments : {"--expr 'x*x'", "--name a", "--expr 'x*x' --expr x --name a"}) {
    expect_refused(std::string("report ") + arguments, 2, "a name for each expression");
  }
  expect_refused("report --expr 'x*x' --name gelu", 2, "gelu");
  EXPECT_EQ(run("report --expr 'x*+' --name a").code, 2);
}

TEST_F(ReportOwn, TwoFunctionsOfOneNameShowTheirExpressions) {
  const std::string text =
      run("report --expr 'x*tanh(x)' --name a --expr 'x*sigmoid(x)' --name a --bits 2").out;
  EXPECT_THAT(text, AllOf(HasSubstr("\n| a: x * tanh(x) | levels"),
                          HasSubstr("\n| a: x * sigmoid(x) | levels")));
}

TEST_F(ReportOwn, CommandLineIsQuotedForAShellInOneLine) {
  const std::string text = run("report --expr 'x*tanh(x)' --name 'a' --bits 2 -o -").out;
  EXPECT_THAT(text,
              HasSubstr("\n- command: `fewbit-solve report --expr 'x*tanh(x)' --name a --bits "
                        "2 -o -`\n- version: `fewbit-solve "));
  EXPECT_THAT(run("report --expr \"$(printf 'x*\\ntanh(x)')\" --name a --bits 2").out,
              HasSubstr("--expr $'x*\\012tanh(x)' --name a"));
}

}  // namespace fewbit::report_own_test
