#include "report/order.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functions/registry.hpp"

namespace fewbit::solver::order_test {

using testing::ElementsAre;

Result result_of(const std::string& function, double error, double bias, double gap) {
  Result result;
  result.problem.function = parse_function(function);
  Table table;
  table.problem = result.problem;
  table.error = error;
  table.smoothed_bias = bias;
  table.relative_gap = gap;
  table.levels = {0.0, 1.0};
  result.table = table;
  return result;
}

std::vector<Result> results() {
  Result none;
  none.problem.function = parse_function("mish");
  return {none, result_of("relu", 0, 0, 0), result_of("silu", 0.1, 0.1, 1e-12),
          result_of("gelu", 0.3, 0.5, 1e-10), result_of("silu", 0.4, 0.2, 1e-11)};
}

std::vector<std::string> names(Order order) {
  std::vector<std::string> list;
  for (const auto& result : sorted(results(), order)) list.push_back(result.problem.function.name);
  return list;
}

TEST(Order, PutsLargeFiguresFirstAndKeepsFunctionsTogether) {
  EXPECT_THAT(names(Order::error), ElementsAre("silu", "silu", "gelu", "relu", "mish"));
  EXPECT_THAT(names(Order::bias), ElementsAre("gelu", "silu", "silu", "relu", "mish"));
  EXPECT_THAT(names(Order::gap), ElementsAre("gelu", "silu", "silu", "relu", "mish"));
  EXPECT_THAT(names(Order::name), ElementsAre("gelu", "mish", "relu", "silu", "silu"));
  EXPECT_THAT(names(Order::given), ElementsAre("mish", "relu", "silu", "silu", "gelu"));
}

TEST(Order, TablesOfAFunctionStayAsTheyWere) {
  const auto list = sorted(results(), Order::error);
  EXPECT_EQ(list[0].table->error, 0.1);
  EXPECT_EQ(list[1].table->error, 0.4);
}

TEST(Order, PriceOfSmoothingIsNoGap) {
  auto list = results();
  list[3].table->problem.objective.smoothed = true;
  EXPECT_EQ(sorted(list, Order::gap)[0].problem.function.name, "silu");
}

TEST(ExactOnce, KeepsTheFirstOfEqualExactTables) {
  auto list = results();
  list.push_back(result_of("relu", 0, 0, 0));
  list.push_back(result_of("relu6", 0, 0, 0));
  list.push_back(result_of("gelu", 0.3, 0.5, 1e-10));
  EXPECT_EQ(exact_once(list).size(), list.size() - 1);
}

}  // namespace fewbit::solver::order_test
