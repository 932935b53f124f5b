#include "report/study.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "proven/solve.hpp"

namespace fewbit::solver {

Domain default_domain(const WeightSpec& weight) {
  if (weight.is_discrete() && weight.values.size() > 1) {
    return {weight.values.front(), weight.values.back()};
  }
  if (weight.edges.empty()) return {};
  return {weight.edges.front(), weight.edges.back()};
}

namespace {

/// Forms that go with an objective: the smoothed one is defined for levels alone.
std::vector<Form> forms_for(const Objective& objective, const std::vector<Form>& asked) {
  return objective.smoothed ? std::vector<Form>{Form::levels} : asked;
}

}  // namespace

std::vector<Problem> problems_of(const Study& study) {
  std::vector<Problem> problems;
  for (const auto& function : study.functions) {
    for (const auto& weight : study.weights) {
      Problem problem;
      problem.function = function;
      problem.weight = weight;
      problem.domain = study.domain.value_or(default_domain(weight));
      for (const auto& objective : study.objectives) {
        problem.objective = objective;
        for (const Form form : forms_for(objective, study.forms)) {
          problem.form = form;
          for (const int levels : study.levels) {
            problem.levels = levels;
            if (std::find(problems.begin(), problems.end(), problem) == problems.end()) {
              problems.push_back(problem);
            }
          }
        }
      }
    }
  }
  return problems;
}

std::vector<Result> solve_all(const std::vector<Problem>& problems, const ProgressCall& progress) {
  std::vector<Result> results(problems.size());
  const auto work = [&](size_t i) {
    results[i].problem = problems[i];
    try {
      results[i].table = solve(problems[i]);
    } catch (const Error& error) {
      results[i].failure = error.what();
    }
  };
  parallel_for(problems.size(), work, progress);
  return results;
}

}  // namespace fewbit::solver
