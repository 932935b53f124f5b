// The page on expressions, and that it is true.

#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include "tests/cli/program.hpp"

namespace fewbit::expressions_test {

using Expressions = Program;
using testing::HasSubstr;
using testing::StartsWith;

/// The cells of a row of a Markdown table; none for other lines.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  if (!line.starts_with("| ")) return cells;
  for (size_t begin = 2; begin < line.size();) {
    const size_t end = line.find(" | ", begin);
    cells.push_back(line.substr(begin, (end == std::string::npos ? line.size() - 2 : end) - begin));
    begin = end == std::string::npos ? line.size() : end + 3;
  }
  return cells;
}

std::string without_quotes(std::string text) {
  std::erase(text, '`');
  return text;
}

class ExpressionsPage : public Program {
 protected:
  /// The rows of the table in the section `title`.
  std::vector<std::vector<std::string>> rows(const std::string& title) const {
    std::istringstream in(page_.substr(page_.find("\n## " + title + "\n") + 1));
    std::vector<std::vector<std::string>> found;
    std::string line;
    for (std::getline(in, line); std::getline(in, line) && !line.starts_with("## ");) {
      if (line.starts_with("| `")) found.push_back(cells_of(line));
    }
    return found;
  }

  Outcome solve(const std::string& expression) const {
    return run("--expr '" + expression + "' --name act --bits 1 --json");
  }

  std::string page_ = run("help expressions --markdown").out;
};

TEST_F(ExpressionsPage, IsTheOneInDocs) {
  std::ifstream in(FEWBIT_DOCS "/expressions.md");
  const std::string docs{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(docs, page_) << "fewbit-solve help expressions --markdown > docs/expressions.md";
}

TEST_F(ExpressionsPage, HasExamplesThatSolve) {
  const auto functions = rows("Functions");
  EXPECT_GT(functions.size(), 20u);
  for (const auto& row : functions) {
    const Outcome outcome = solve(without_quotes(row.back()));
    EXPECT_EQ(outcome.code, 0) << row.back() << outcome.err;
  }
}

TEST_F(ExpressionsPage, ShowsCallsOfBuiltInFunctionsThatAreRead) {
  const auto functions = rows("Built-in activations");
  EXPECT_GT(functions.size(), 20u);
  for (const auto& row : functions) {
    const std::string call = row[0].substr(1, row[0].find('`', 1) - 1);
    const Outcome outcome = solve(call + " + sin(x)");
    EXPECT_EQ(outcome.code, 0) << call << outcome.err;
  }
}

TEST_F(ExpressionsPage, NamesWhatIsRefused) {
  const auto refused = rows("What is refused");
  EXPECT_GT(refused.size(), 5u);
  for (const auto& row : refused) {
    const Outcome outcome = solve(without_quotes(row[0]));
    EXPECT_NE(outcome.code, 0) << row[0];
    EXPECT_THAT(outcome.err, StartsWith("fewbit-solve: error: expression: ")) << row[0];
  }
}

TEST_F(Expressions, AreExplainedWhereOneLooks) {
  const std::string page = run("help expressions").out;
  EXPECT_THAT(page, StartsWith("Expressions\n\nf(x) in one line of mathematics"));
  EXPECT_THAT(page,
              HasSubstr("\n  elu(x, alpha=1)\n      f(x): where(x > 0, x, alpha*expm1(x))\n"));
  EXPECT_EQ(page.find('`'), std::string::npos);
  EXPECT_EQ(run("--help expressions").out, page);
  EXPECT_EQ(run("expressions --help").out, page);
  EXPECT_THAT(run("--help").out, HasSubstr("fewbit-solve help expressions"));
}

TEST_F(Expressions, AreTheOneTopicThatIsAlsoAPageOfTheDocuments) {
  expect_refused("help expression", 2, "'expression' is neither a topic nor a command; accepted: ");
  expect_refused("help emit --markdown", 2, "--markdown is for one page");
}

TEST_F(Expressions, CallBuiltInFunctionsAndTheTableKeepsTheirBodies) {
  ASSERT_EQ(run("--expr 'gelu(2*x) + elu(x, alpha=0.5)' --name act --bits 2 -o act.json").code, 0);
  EXPECT_THAT(read("act.json"),
              HasSubstr("\"2 * x * normcdf(2 * x) + where(x > 0, x, 0.5 * expm1(x))\""));
  EXPECT_EQ(run("verify act.json").code, 0);
}

TEST_F(Expressions, WithWavesAreSolvedProvedAndEmitted) {
  ASSERT_EQ(run("--expr 'x + sin(x)^2' --name snake --bits 3 -o snake.json").code, 0);
  EXPECT_EQ(run("verify snake.json").code, 0);
  EXPECT_THAT(run("emit snake.json").out, HasSubstr("math::sin("));
  EXPECT_THAT(run("emit snake.json --lang cuda").out, HasSubstr("math::sin("));
}

TEST_F(Expressions, WithQuotientsAreSolvedProvedAndEmittedWhereTheirLimitIsWritten) {
  ASSERT_EQ(run("--expr 'where(x == 0, 1, sin(x)/x)' --name sinc --bits 3 -o sinc.json").code, 0);
  EXPECT_EQ(run("verify sinc.json").code, 0);
  EXPECT_THAT(run("emit sinc.json --lang torch").out,
              HasSubstr("torch.where(x == 0.0, 1.0, torch.sin(x) / x)"));
  EXPECT_THAT(run("--expr 'sin(x)/x' --name sinc --bits 3").err,
              HasSubstr("its limit there is 1, so write where(x == 0, 1, ...)"));
}

}  // namespace fewbit::expressions_test
