#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "table/json.hpp"

namespace fewbit::solver::round_trip_test {
/// Any bit pattern: all binades are as likely.
double any_finite() {
  static std::mt19937_64 bits(1);
  const double value = std::bit_cast<double>(bits());
  return std::isfinite(value) && value != 0.0 ? value : 0.0;
}

double any_positive() {
  return std::fabs(any_finite());
}

std::vector<double> any_ascending(size_t count, bool positive) {
  std::set<double> values;
  while (values.size() < count) values.insert(positive ? any_positive() + 1e-300 : any_finite());
  return {values.begin(), values.end()};
}

WeightSpec any_weight() {
  if (*rc::gen::arbitrary<bool>())
    return {"normal", {{"mean", any_finite()}, {"s", 1}}, {}, {}, {}};
  const auto bins = *rc::gen::inRange<size_t>(1, 40);
  WeightSpec weight;
  weight.kind = *rc::gen::element<std::string>("histogram", "samples");
  if (weight.is_discrete()) {
    weight.values = any_ascending(bins, false);
  } else {
    weight.edges = any_ascending(bins + 1, false);
  }
  for (size_t i = 0; i < bins; ++i) weight.masses.push_back(any_positive());
  const auto units = *rc::gen::inRange<size_t>(0, 5);
  for (size_t i = 0; i < units; ++i) {
    weight.units.push_back({any_finite(), any_positive() + 1e-300, any_positive()});
  }
  return weight;
}

/// Codes that use all levels, no two neighbours equal.
std::vector<int> any_codes(size_t levels) {
  std::vector<int> codes;
  for (size_t i = 0; i < levels; ++i) codes.push_back(static_cast<int>(i));
  const auto more = levels > 1 ? *rc::gen::inRange<size_t>(0, 20) : 0;
  for (size_t i = 0; i < more; ++i) {
    const int next = *rc::gen::inRange<int>(0, static_cast<int>(levels));
    if (next != codes.back()) codes.push_back(next);
  }
  return codes;
}

Table any_table() {
  Table table;
  table.problem.function = {*rc::gen::nonEmpty(rc::gen::string<std::string>()),
                            {{"b", any_finite()}, {"a", any_finite()}},
                            "x \"quoted\" \\ \n"};
  // JSON is Unicode: only ASCII survives as it is.
  for (char& c : table.problem.function.name) c = static_cast<char>(c & 0x7f);
  table.problem.form = *rc::gen::element(Form::intervals, Form::levels, Form::unbiased);
  table.problem.dtype =
      *rc::gen::element(DataType::exact, DataType::fp32, DataType::bf16, DataType::fp16);
  const bool unbiased = table.problem.form == Form::unbiased;
  if (*rc::gen::arbitrary<bool>()) table.problem.objective = {true, 0.25, any_positive()};
  if (!unbiased) table.symmetry = *rc::gen::element(Symmetry::none, Symmetry::even);
  table.problem.domain = {-std::numeric_limits<double>::infinity(), any_finite()};
  table.problem.weight = any_weight();
  const auto levels = *rc::gen::inRange<size_t>(unbiased ? 2 : 1, 256);
  table.problem.levels = *rc::gen::inRange<int>(std::max(2, static_cast<int>(levels)), 257);
  table.levels = any_ascending(levels, false);
  if (!unbiased) table.codes = any_codes(levels);
  if (table.problem.form == Form::intervals) table.codes.resize(levels);
  if (!unbiased) {
    table.thresholds = any_ascending(table.codes.size() - 1, table.symmetry == Symmetry::even);
  }
  table.error = any_positive();
  table.lower_bound = table.error / 2;
  table.relative_gap = 0.5;
  table.residual = any_positive();
  table.solver = "0.1.0";
  return table;
}

TEST(RoundTrip, EveryTableReadsBackEqual) {
  EXPECT_TRUE(rc::check([] {
    const Table table = any_table();
    RC_ASSERT(from_json(to_json(table)) == table);
  }));
}

TEST(RoundTrip, TextIsUnique) {
  EXPECT_TRUE(rc::check([] {
    const std::string text = to_json(any_table());
    RC_ASSERT(to_json(from_json(text)) == text);
  }));
}
}  // namespace fewbit::solver::round_trip_test
