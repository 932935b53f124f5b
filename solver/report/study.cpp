#include "report/study.hpp"

#include "base/error.hpp"
#include "search/solve.hpp"

namespace fewbit::solver {

Domain default_domain(const WeightSpec& weight) {
  if (weight.edges.empty()) return {};
  return {weight.edges.front(), weight.edges.back()};
}

std::vector<Problem> problems_of(const Study& study) {
  std::vector<Problem> problems;
  for (const auto& function : study.functions) {
    for (const auto& weight : study.weights) {
      for (const auto& objective : study.objectives) {
        for (const Form form : study.forms) {
          for (const int levels : study.levels) {
            Problem problem;
            problem.function = function;
            problem.form = form;
            problem.objective = objective;
            problem.levels = levels;
            problem.weight = weight;
            problem.domain = study.domain.value_or(default_domain(weight));
            problems.push_back(std::move(problem));
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
