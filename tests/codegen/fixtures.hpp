#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "functions/registry.hpp"
#include "table/table.hpp"

namespace fewbit::test {

/// A table made by hand: not optimal, but of the right shape.
inline solver::Table make_table(const std::string& function, solver::Form form,
                                std::vector<double> thresholds, std::vector<int> codes,
                                std::vector<double> levels) {
  solver::Table table;
  table.problem.function = solver::parse_function(function);
  table.problem.form = form;
  table.problem.levels = static_cast<int>(levels.size());
  table.thresholds = std::move(thresholds);
  table.codes = std::move(codes);
  table.levels = std::move(levels);
  table.error = 0.25;
  table.lower_bound = 0.25;
  table.solver = "by hand";
  return table;
}

/// Ten intervals on eight levels, as gelu's 3-bit table has them.
inline solver::Table gelu_levels_b3() {
  return make_table("gelu", solver::Form::levels,
                    {-2.1, -1.4, -0.6, -0.2, 0.1, 0.35, 0.7, 1.3, 2.2},
                    {2, 1, 0, 2, 3, 4, 5, 6, 7, 6}, {-0.1, -0.05, 0.02, 0.3, 0.55, 0.75, 1.0, 1.1});
}

/// The same for quick_gelu, whose namespace is its own.
inline solver::Table repeating_levels_b3() {
  solver::Table table = gelu_levels_b3();
  table.problem.function = solver::parse_function("quick_gelu");
  return table;
}

/// 2^bits levels with thresholds that are no floats, evenly spread over (-3, 3).
inline solver::Table ladder(int bits, solver::Form form) {
  const int count = 1 << bits;
  std::vector<double> thresholds;
  std::vector<double> levels;
  std::vector<int> codes;
  for (int i = 0; i < count; ++i) {
    levels.push_back(-0.13 + 1.26 * i / (count - 1));
    if (form == solver::Form::unbiased) continue;
    codes.push_back(i);
    if (i > 0) thresholds.push_back(-3.0 + 6.0 * i / count + 1e-9);
  }
  return make_table("gelu", form, thresholds, codes, levels);
}

}  // namespace fewbit::test
