#include "report/labels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functions/registry.hpp"

namespace fewbit::solver::labels_test {

using testing::ElementsAre;

Result result_of(const FunctionSpec& function) {
  Result result;
  result.problem.function = function;
  return result;
}

Result fitted(double edge, const std::string& file) {
  Result result = result_of(parse_function("gelu"));
  result.problem.weight = {"histogram", {}, {-1, 0, edge}, {0.5, 0.5}, {}};
  result.problem.domain = {-1, edge};
  result.file = file;
  return result;
}

TEST(Labels, AreShortWhereNothingIsConfused) {
  Result other = result_of(parse_function("elu:alpha=0.5"));
  other.problem.form = Form::intervals;
  const Labels labels = labels_of({result_of(parse_function("gelu")), other});
  EXPECT_THAT(labels.function, ElementsAre("gelu", "elu(alpha=0.5)"));
  EXPECT_THAT(labels.variant, ElementsAre("levels, uniform", "intervals, uniform"));
}

TEST(Labels, FunctionsOfOneNameShowTheirExpressions) {
  const Labels labels = labels_of({result_of(custom_function("act", "x*tanh(x)")),
                                   result_of(custom_function("act", "x*sigmoid(x)")),
                                   result_of(parse_function("gelu"))});
  EXPECT_THAT(labels.function,
              ElementsAre(testing::StartsWith("act: x"), testing::HasSubstr("sigmoid"), "gelu"));
}

TEST(Labels, DifferentDataShowTheirFiles) {
  const Labels labels = labels_of({fitted(1, "a.json"), fitted(2, "b.json"), fitted(1, "a2.json")});
  // The third has the data of the first.
  EXPECT_THAT(labels.weight,
              ElementsAre("histogram of 2 bins, a.json", "histogram of 2 bins, b.json",
                          "histogram of 2 bins, a.json"));
  EXPECT_EQ(labels.variant[0], labels.variant[2]);
}

TEST(Labels, DomainTypeAndSettingsAppearWhereTheyDiffer) {
  std::vector<Result> results(4, result_of(parse_function("gelu")));
  results[1].problem.domain = {-5, 5};
  results[2].problem.objective = {true, 0.5, 1e-3};
  results[3].problem.objective = {true, 0.8, 1e-3};
  EXPECT_THAT(labels_of(results).variant,
              ElementsAre("levels, uniform, [-10, 10]", "levels, uniform, [-5, 5]",
                          "smoothed, uniform, tau 0.5, lambda 0.001",
                          "smoothed, uniform, tau 0.8, lambda 0.001"));
  results.resize(2);
  results[1] = results[0];
  results[1].problem.dtype = DataType::fp16;
  EXPECT_THAT(labels_of(results).variant,
              ElementsAre("levels, uniform, exact", "levels, uniform, fp16"));
}

}  // namespace fewbit::solver::labels_test
