#include "cli/shipped.hpp"

#include <array>

#include "expression/derivative.hpp"
#include "functions/registry.hpp"
#include "table/json.hpp"

namespace fewbit::solver {

namespace {

constexpr int kMostBits = 4;

struct Kind {
  Form form;
  bool smoothed;
  WeightSpec weight;
};

WeightSpec uniform() {
  return {};
}
WeightSpec normal() {
  return {"normal", {{"mean", 0.0}, {"sigma", 1.0}}, {}, {}, {}};
}
/// The range of the smallest worst-case regret, see `fewbit-solve report --regret`.
WeightSpec mixture() {
  return {"mixture", {{"sigma_min", 0.0625}, {"sigma_max", 4.0}}, {}, {}, {}};
}

std::array<Kind, 6> kinds() {
  return {{{Form::intervals, false, uniform()},
           {Form::levels, false, uniform()},
           {Form::levels, false, normal()},
           {Form::levels, false, mixture()},
           {Form::unbiased, false, normal()},
           {Form::levels, true, normal()}}};
}

bool is_step_function(const FunctionSpec& function) {
  const Domain domain;
  return Derivative(expression_of(function), domain.lo, domain.hi).is_step_function();
}

}  // namespace

std::vector<Problem> shipped_problems() {
  std::vector<Problem> problems;
  for (const auto& info : registry()) {
    Problem problem;
    problem.function = parse_function(info.name);
    if (is_step_function(problem.function)) {
      problem.levels = 2;
      problems.push_back(problem);
      continue;
    }
    for (const auto& kind : kinds()) {
      problem.form = kind.form;
      problem.objective.smoothed = kind.smoothed;
      problem.weight = kind.weight;
      for (int bits = 1; bits <= kMostBits; ++bits) {
        problem.levels = 1 << bits;
        problems.push_back(problem);
      }
    }
  }
  return problems;
}

std::string shipped_path(const Table& table) {
  return table.problem.function.name + "/" + table_stem(table) + ".json";
}

}  // namespace fewbit::solver
