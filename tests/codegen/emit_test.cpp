// The text of emitted headers; what it does when compiled is emitted_test's business.
#include "codegen/emit.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "fixtures.hpp"

namespace fewbit::codegen {

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Emit, CommentSaysWhatTheTableIs) {
  solver::Table table = test::gelu_levels_b3();
  table.problem.objective.smoothed = true;
  table.problem.weight = {"normal", {{"mean", 0.0}, {"sigma", 1.0}}, {}, {}, {}};
  const std::string text = emit_header(table, Language::cpp);
  EXPECT_TRUE(contains(text, "// gelu, 3 bits: ")) << text.substr(0, 600);
  EXPECT_TRUE(contains(text, "form levels, weight normal (mean 0, sigma 1), domain [-10, 10]"));
  EXPECT_TRUE(contains(text, "squared error 0.25, lower bound 0.25\n//   relative gap 0\n"));
  EXPECT_TRUE(contains(text, "smoothed objective (tau 0.83, lambda 0.001)"));
}

TEST(Emit, IncludesStandardHeadersOnly) {
  for (const Language language : {Language::cpp, Language::cuda}) {
    const std::string text = emit_header(test::gelu_levels_b3(), language);
    EXPECT_FALSE(contains(text, "#include \""));
    EXPECT_EQ(contains(text, "cuda_runtime.h"), language == Language::cuda);
    EXPECT_EQ(contains(text, "__global__"), language == Language::cuda);
  }
}

TEST(Emit, TakesAFunctionOfTheUser) {
  solver::Table table = test::gelu_levels_b3();
  table.problem.function = solver::custom_function("my_act", "x*sigmoid(1.702*x)");
  const std::string text = emit_header(table, Language::cpp);
  EXPECT_TRUE(contains(text, "namespace fewbit_my_act_b3 {"));
  EXPECT_TRUE(contains(text, "return x * math::sigmoid(1.702f * x);"));
}

TEST(Emit, LeavesOutPrimitivesThatAreNotNeeded) {
  solver::Table table = test::gelu_levels_b3();
  table.problem.function = solver::parse_function("relu");
  EXPECT_FALSE(contains(emit_header(table, Language::cpp), "exp_cubic"));
}

TEST(Emit, RoundsThresholdsDown) {
  solver::Table table = test::gelu_levels_b3();
  table.thresholds[4] = 0.1;  // the nearest float is above it
  EXPECT_TRUE(contains(emit_header(table, Language::cpp), " 0x1.999998p-4f,"));
}

TEST(Emit, RejectsAnExpressionThatDoesNotParse) {
  solver::Table table = test::gelu_levels_b3();
  table.problem.function.expression = "x*sigmod(x)";
  EXPECT_THROW(emit_header(table, Language::cpp), Error);
}

}  // namespace

}  // namespace fewbit::codegen
