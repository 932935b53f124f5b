#include "cli/shipped.hpp"

#include <array>

#include "expression/derivative.hpp"
#include "functions/quantizers.hpp"
#include "functions/registry.hpp"
#include "table/json.hpp"

namespace fewbit::solver {

namespace {

constexpr int kMostBits = 4;
constexpr int kMostQuantizerBits = 8;

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

/// `problem` with 1 bit, 2 bits and so on.
void add_sizes(Problem problem, int most_bits, std::vector<Problem>& problems) {
  for (int bits = 1; bits <= most_bits; ++bits) {
    problem.levels = 1 << bits;
    problems.push_back(problem);
  }
}

void add_activation(const FunctionSpec& function, std::vector<Problem>& problems) {
  Problem problem;
  problem.function = function;
  if (is_step_function(function)) return add_sizes(problem, 1, problems);
  for (const auto& kind : kinds()) {
    problem.form = kind.form;
    problem.objective.smoothed = kind.smoothed;
    problem.weight = kind.weight;
    add_sizes(problem, kMostBits, problems);
  }
}

}  // namespace

std::vector<Problem> shipped_problems() {
  std::vector<Problem> problems;
  // First, as the largest of them takes longest.
  for (const auto& quantizer : quantizers()) {
    Problem problem;
    problem.function = quantizer;
    problem.weight = normal();
    add_sizes(problem, kMostQuantizerBits, problems);
  }
  for (const auto& info : registry()) add_activation(parse_function(info.name), problems);
  return problems;
}

std::string shipped_path(const Table& table) {
  return table.problem.function.name + "/" + table_stem(table) + ".json";
}

}  // namespace fewbit::solver
