#pragma once

#include "table/table.hpp"

namespace fewbit::solver {

/// A small valid table, every part in use.
inline Table sample_table() {
  Table table;
  table.problem.function = {"elu", {{"alpha", 0.5}}, "where(x > 0, x, alpha*expm1(x))"};
  table.problem.form = Form::levels;
  table.problem.levels = 4;
  table.problem.weight = {"normal", {{"mean", 0.0}, {"sigma", 1.0}}, {}, {}, {}};
  table.thresholds = {-2.5, -0.1, 1e-9, 3.0};
  table.codes = {0, 1, 2, 1, 0};
  table.levels = {0.1, 1.0 / 3.0, 0.75};
  table.error = 0.015625;
  table.lower_bound = 0.0156;
  table.relative_gap = 0.0016;
  table.residual = 1e-14;
  table.smoothed_bias = 0.001;
  table.solver = "0.1.0";
  return table;
}

}  // namespace fewbit::solver
