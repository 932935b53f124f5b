// The text of emitted files; what it does when compiled is emitted_test's business.
#include "codegen/emit.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "fixtures.hpp"

namespace fewbit::codegen::emit_test {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Emit, CommentSaysWhatTheTableIs) {
  solver::Table table = test::gelu_levels_b3();
  table.problem.objective.smoothed = true;
  table.problem.weight = {"normal", {{"mean", 0.0}, {"sigma", 1.0}}, {}, {}, {}};
  const std::string text = emit_code(table, Language::cpp);
  EXPECT_TRUE(contains(text, "// gelu, 3 bits\n")) << text.substr(0, 600);
  EXPECT_TRUE(contains(text, "form levels, weight normal (mean 0, sigma 1), domain [-10, 10]"));
  EXPECT_TRUE(contains(text, "squared error 0.25, lower bound 0.25\n//   relative gap 0\n"));
  EXPECT_TRUE(contains(text, "smoothed objective (tau 0.83, lambda 0.001)"));
}

TEST(Emit, IncludesStandardHeadersOnly) {
  for (const Language language : {Language::cpp, Language::cuda}) {
    const std::string text = emit_code(test::gelu_levels_b3(), language);
    EXPECT_FALSE(contains(text, "#include \""));
    EXPECT_EQ(contains(text, "cuda_runtime.h"), language == Language::cuda);
    EXPECT_EQ(contains(text, "__global__"), language == Language::cuda);
  }
}

TEST(Emit, TakesAFunctionOfTheUser) {
  solver::Table table = test::gelu_levels_b3();
  table.problem.function = solver::custom_function("my_act", "x*sigmoid(1.702*x)");
  const std::string text = emit_code(table, Language::cpp);
  EXPECT_TRUE(contains(text, "namespace fewbit_my_act_levels_b3_"));
  EXPECT_TRUE(contains(text, "return x * math::sigmoid(1.702f * x);"));
}

TEST(Emit, LeavesOutPrimitivesThatAreNotNeeded) {
  solver::Table table = test::gelu_levels_b3();
  table.problem.function = solver::parse_function("relu");
  EXPECT_FALSE(contains(emit_code(table, Language::cpp), "exp_cubic"));
}

TEST(Emit, RoundsThresholdsDown) {
  solver::Table table = test::gelu_levels_b3();
  table.thresholds[4] = 0.1;  // the nearest float is above it
  EXPECT_TRUE(contains(emit_code(table, Language::cpp), " 0x1.999998p-4f,"));
}

TEST(Emit, NamesTheNamespaceAfterFunctionFormBitsAndDigest) {
  solver::Table table = test::gelu_levels_b3();
  const std::string name = default_namespace(table, Language::cpp);
  EXPECT_EQ(name, "fewbit_gelu_levels_b3_f838d15485a1");  // of FNV-1a: the same on every machine
                                                          // and in every version
  EXPECT_EQ(default_namespace(table, Language::torch), name);
  EXPECT_EQ(default_namespace(table, Language::cuda), name + "_cuda");
  EXPECT_EQ(default_namespace(table, Language::triton), name + "_triton");
  table.levels[2] += 1e-12;
  EXPECT_NE(default_namespace(table, Language::cpp), name);
  table.problem.objective.smoothed = true;
  EXPECT_TRUE(contains(default_namespace(table, Language::cpp), "fewbit_gelu_smoothed_b3_"));
}

TEST(Emit, ComparesSixteenThresholdsOneByOneAndSearchesMoreByHalves) {
  const auto text = [](int levels, Language language) {
    return emit_code(test::ladder(levels, solver::Form::levels), language);
  };
  EXPECT_TRUE(contains(text(17, Language::cpp), "i < 16; ++i) code +="));
  EXPECT_TRUE(contains(text(18, Language::cpp), "position > thresholds[interval + 7]) * 8;"));
  EXPECT_TRUE(contains(text(17, Language::triton), "code += tl.where(position > "));
  EXPECT_TRUE(contains(text(18, Language::triton), "tl.load(thresholds + interval + 7), 8, 0)"));
}

TEST(Emit, CarriesItsLicenceAndItsOwner) {
  for (const Language language :
       {Language::cpp, Language::cuda, Language::torch, Language::triton}) {
    const std::string text = emit_code(test::gelu_levels_b3(), language);
    EXPECT_TRUE(contains(text.substr(0, 50), "SPDX-License-Identifier: Apache-2.0\n"));
    EXPECT_TRUE(contains(text, "It belongs to whoever had it emitted"));
  }
}

TEST(Emit, KeepsLinesOfExpressionsOutOfTheCode) {
  solver::Table table = test::gelu_levels_b3();
  table.problem.function.expression = "x*\n\nsigmoid(x)";
  EXPECT_TRUE(contains(emit_code(table, Language::cpp), "//   f(x) = x * sigmoid(x)\n"));
}

TEST(Emit, RejectsNumbersThatNoFloatHolds) {
  solver::Table table = test::gelu_levels_b3();
  table.levels.back() = 1e39;
  EXPECT_THROW(emit_code(table, Language::cpp), Error);
  table.levels.back() = 3e38;
  EXPECT_NO_THROW(emit_code(table, Language::cpp));
}

TEST(Emit, RejectsAnExpressionThatDoesNotParse) {
  solver::Table table = test::gelu_levels_b3();
  table.problem.function.expression = "x*sigmod(x)";
  EXPECT_THROW(emit_code(table, Language::cpp), Error);
}

}  // namespace fewbit::codegen::emit_test
