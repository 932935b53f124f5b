// Tables are solved, read and kept alike whatever floating-point mode a thread is in.
#include "tests/support/floating_point_mode.hpp"

#include <gtest/gtest.h>

#include "fewbit/table.hpp"
#include "search/search_table.hpp"
#include "table/json.hpp"

namespace fewbit::floating_point_mode_test {

using test::FloatingPointMode;
using test::for_each_mode;
using test::InMode;

void expect_same(const Table& found, const Table& usual, const std::string& where) {
  EXPECT_EQ(found.data().thresholds, usual.data().thresholds) << where;
  EXPECT_EQ(found.data().interval_codes, usual.data().interval_codes) << where;
  EXPECT_EQ(found.data().levels, usual.data().levels) << where;
}

TEST(FloatingPointMode, ChangesNoTableThatIsSolved) {
  struct Case {
    const char* function;
    int bits;
    double parameter;
  };
  for (const Case& asked :
       {Case{"elu", 3, 0.7}, Case{"leaky_relu", 1, 0.3}, Case{"silu", 2, 1.5}}) {
    double parameter = asked.parameter;
    for_each_mode([&](const FloatingPointMode& mode) {
      parameter *= 1.01;  // not yet solved
      const Table found = [&] {
        const InMode in(mode);
        return Table::standard(asked.function, Bits{asked.bits}, {parameter});
      }();
      const solver::Problem problem = solver::from_json(found.data().json).problem;
      const Table usual = Table::from_json(solver::to_json(solver::search_table(problem)));
      expect_same(found, usual, asked.function + (' ' + mode.name));
    });
  }
}

TEST(FloatingPointMode, ChangesNoTableThatIsRead) {
  const Table usual = Table::standard("celu", Bits{3}, {0.3});
  for_each_mode([&](const FloatingPointMode& mode) {
    const InMode in(mode);
    const Table found = Table::from_json(usual.data().json);
    expect_same(found, usual, mode.name);
    EXPECT_EQ(found.data().json, usual.data().json) << mode.name;
  });
}

}  // namespace fewbit::floating_point_mode_test
