#include "report/regret.hpp"

#include "proven/solve.hpp"
#include "report/study.hpp"

namespace fewbit::solver {

namespace {

/// Errors below this are rounding: a ratio of two of them says nothing.
constexpr double kNothing = 1e-13;

WeightSpec normal(double sigma) {
  return {"normal", {{"mean", 0.0}, {"sigma", sigma}}, {}, {}, {}};
}

WeightSpec mixture(const Domain& range) {
  return {"mixture", {{"sigma_min", range.lo}, {"sigma_max", range.hi}}, {}, {}, {}};
}

}  // namespace

std::vector<Regret> regrets(const RegretStudy& study, const ProgressCall& progress) {
  Study all;
  all.functions = study.functions;
  all.levels = study.levels;
  all.weights.clear();
  for (const auto& range : study.ranges) all.weights.push_back(mixture(range));
  for (const double sigma : study.sigmas) all.weights.push_back(normal(sigma));
  const auto results = solve_all(problems_of(all), progress);

  const size_t sizes = study.levels.size();
  const size_t weights = all.weights.size();
  const auto result = [&](size_t function, size_t weight, size_t size) -> const Result& {
    return results[(function * weights + weight) * sizes + size];
  };
  const size_t cases = study.functions.size() * study.ranges.size() * sizes;
  std::vector<std::vector<Regret>> found(cases);
  parallel_for(cases, [&](size_t i) {
    const size_t size = i % sizes;
    const size_t range = i / sizes % study.ranges.size();
    const size_t function = i / sizes / study.ranges.size();
    const Result& fitted = result(function, range, size);
    for (size_t s = 0; s < study.sigmas.size() && fitted.table; ++s) {
      const Result& best = result(function, study.ranges.size() + s, size);
      if (!best.table || best.table->error < kNothing) continue;
      Table moved = *fitted.table;
      moved.problem.weight = best.problem.weight;
      found[i].push_back({range, function, study.levels[size], study.sigmas[s],
                          table_error(moved) / best.table->error - 1.0});
    }
  });
  std::vector<Regret> flat;
  for (const auto& part : found) flat.insert(flat.end(), part.begin(), part.end());
  return flat;
}

}  // namespace fewbit::solver
