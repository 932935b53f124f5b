#include <limits>

#include <gtest/gtest.h>

#include "base/file.hpp"
#include "sample_table.hpp"
#include "table/json.hpp"

namespace fewbit::solver::canonical_test {
// clang-format off
constexpr const char* kGolden = R"json({
  "schema": 1,
  "function": {
    "name": "elu",
    "parameters": {"alpha": 0.5},
    "expression": "where(x > 0, x, alpha*expm1(x))"
  },
  "form": "levels",
  "objective": "squared",
  "smoothed_bias": 0.001,
  "bits": 2,
  "size": 4,
  "symmetry": "none",
  "dtype": "exact",
  "domain": [-10, 10],
  "weight": {
    "kind": "normal",
    "mean": 0,
    "sigma": 1
  },
  "thresholds": [-2.5, -0.1, 1e-09, 3],
  "codes": [0, 1, 2, 1, 0],
  "levels": [0.1, 0.3333333333333333, 0.75],
  "error": 0.015625,
  "lower_bound": 0.0156,
  "relative_gap": 0.0016,
  "residual": 1e-14,
  "solver": "0.1.0"
}
)json";
// clang-format on

TEST(CanonicalText, IsFixed) {
  EXPECT_EQ(to_json(sample_table()), kGolden);
}

TEST(CanonicalText, ReadsBack) {
  EXPECT_EQ(from_json(kGolden), sample_table());
}

TEST(CanonicalText, WritesHistogramSmoothedObjectiveAndInfiniteEnds) {
  Table table = sample_table();
  const double infinity = std::numeric_limits<double>::infinity();
  table.problem.objective = {true, 0.83, 1e-3};
  table.problem.domain = {-infinity, infinity};
  table.problem.weight = {"histogram", {}, {-1, 0, 2}, {0.25, 0.75}, {{-0.5, 0.25, 1.0}}};
  const std::string text = to_json(table);
  EXPECT_NE(text.find("\n  \"objective\": {\"smoothed\": {\"tau\": 0.83, \"lambda\": 0.001}},\n"),
            std::string::npos);
  EXPECT_NE(text.find("\n  \"domain\": [\"-inf\", \"inf\"],\n"), std::string::npos);
  EXPECT_NE(text.find("    \"kind\": \"histogram\",\n    \"edges\": [-1, 0, 2],\n"
                      "    \"masses\": [0.25, 0.75],\n    \"units\": [[-0.5, 0.25, 1]]\n  },\n"),
            std::string::npos);
  EXPECT_EQ(from_json(text), table);
}

TEST(CanonicalText, HasNoNegativeZero) {
  Table table = sample_table();
  table.thresholds[2] = -0.0;
  EXPECT_EQ(to_json(table).find("-0,"), std::string::npos);
  EXPECT_EQ(to_json(from_json(to_json(table))), to_json(table));
}

TEST(CanonicalText, WrapsLongArraysAtOneHundredColumns) {
  Table table = sample_table();
  table.problem.levels = 256;
  table.problem.form = Form::unbiased;
  table.thresholds.clear();
  table.codes.clear();
  table.levels.clear();
  for (int i = 0; i < 256; ++i) table.levels.push_back(i / 3.0);
  const std::string text = to_json(table);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    EXPECT_LE(end - begin, 100u) << text.substr(begin, end - begin);
    EXPECT_NE(text[end - 1], ' ');
    begin = end + 1;
  }
  EXPECT_EQ(from_json(text), table);
}

TEST(CanonicalText, AcceptsAnyOrderAndWhiteSpace) {
  std::string text = kGolden;
  text.erase(text.find("  \"schema\": 1,\n"), 15);
  text.insert(text.rfind("\n}"), ",\n\t\"schema\":    1");
  EXPECT_EQ(to_json(from_json(text)), kGolden);
}

TEST(CanonicalText, GoesThroughFiles) {
  const std::string path = testing::TempDir() + "canonical_test.json";
  write_table(sample_table(), path);
  EXPECT_EQ(read_text_file(path), kGolden);
  EXPECT_EQ(read_table(path), sample_table());
}

TEST(TableStem, NamesFormWeightAndBits) {
  Table table = sample_table();
  EXPECT_EQ(table_stem(table), "levels_normal_b2");
  table.problem.objective.smoothed = true;
  EXPECT_EQ(table_stem(table), "smoothed_normal_b2");
}
}  // namespace fewbit::solver::canonical_test
