#pragma once

#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
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

/// `count` levels with thresholds that are no floats, evenly spread over (-3, 3).
inline solver::Table ladder(int count, solver::Form form) {
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

inline solver::Table unbiased_b2() {
  solver::Table table = ladder(4, solver::Form::unbiased);
  table.problem.function = solver::parse_function("silu");
  return table;
}

inline solver::Table even(solver::Table table) {
  table.symmetry = solver::Symmetry::even;
  return table;
}

/// Two bits for a function of a user's own.
inline solver::Table own_table(const std::string& name, const std::string& expression) {
  solver::Table table = ladder(4, solver::Form::levels);
  table.problem.function = solver::custom_function(name, expression);
  return table;
}

/// The tables that are emitted, by the name of their files: gelu_b1 to gelu_b8; gelu_l17 and
/// gelu_l18, with the most thresholds that are compared one by one and with one more; and others.
inline std::vector<std::pair<std::string, solver::Table>> emitted_tables() {
  using solver::Form;
  std::vector<std::pair<std::string, solver::Table>> tables;
  for (int bits = 1; bits <= 8; ++bits) {
    tables.emplace_back("gelu_b" + std::to_string(bits), ladder(1 << bits, Form::levels));
  }
  for (const int count : {17, 18}) {
    tables.emplace_back("gelu_l" + std::to_string(count), ladder(count, Form::levels));
  }
  tables.emplace_back("gelu_repeats", gelu_levels_b3());
  tables.emplace_back("silu_unbiased", unbiased_b2());
  tables.emplace_back("tanh_even", even(make_table("tanh", Form::levels, {0.4, 0.9, 1.7},
                                                   {3, 2, 1, 0}, {0.02, 0.3, 0.6, 0.95})));
  tables.emplace_back("elu_half", make_table("elu:alpha=0.5", Form::levels, {-1.0, 0.0}, {0, 1, 2},
                                             {0.1, 0.3, 1.0}));
  // Thresholds that 16-bit types have, almost have, and cannot reach; subnormal ones among them.
  tables.emplace_back(
      "silu_edges",
      make_table("silu", Form::levels,
                 {-1e30, -70000.0, -1.0, -1e-8, 0.0, 3e-8, 1.0009765625, 65504.0},
                 {0, 1, 2, 3, 4, 5, 6, 7, 0}, {-0.1, 0.1, 0.2, 0.4, 0.6, 0.7, 0.8, 1.1}));
  tables.emplace_back("relu_constant", make_table("relu", Form::levels, {}, {0}, {0.5}));
  tables.emplace_back("own_bump", own_table("own_bump", "sin(2*tanh(x))*atan(x)"));
  // Branches at numbers that are no floats, above and below the nearest one.
  tables.emplace_back("own_steps",
                      own_table("own_steps", "where(x <= 0.1, x, where(x < 0.7, x + 1, x - 1))"));
  return tables;
}

inline solver::Table emitted_table(const std::string& name) {
  for (auto& [known, table] : emitted_tables()) {
    if (known == name) return table;
  }
  throw std::logic_error("no emitted table " + name);
}

}  // namespace fewbit::test
