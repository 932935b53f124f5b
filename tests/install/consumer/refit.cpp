// The solver as a library: a table for a histogram that never was a file.
#include <cstdio>

#include <fewbit/solver/functions/registry.hpp>
#include <fewbit/solver/proven/solve.hpp>
#include <fewbit/solver/table/json.hpp>
#include <fewbit/solver/verify/verify.hpp>

int main() {
  namespace solver = fewbit::solver;
  solver::Problem problem;
  problem.function = solver::parse_function("gelu");
  problem.levels = 16;
  problem.domain = {-4.0, 4.0};
  problem.weight.kind = "histogram";
  problem.weight.edges = {-4.0, -2.0, -1.0, 0.0, 1.0, 2.0, 4.0};
  problem.weight.masses = {0.05, 0.2, 0.3, 0.25, 0.15, 0.05};
  const solver::Table table = solver::solve(problem);
  std::printf("gelu, %zu levels: error %.3g, gap %.1e\n", table.levels.size(), table.error,
              table.relative_gap);
  return table.levels.size() == 16 && table.error > 0.0 && table.relative_gap < 1e-3 ? 0 : 1;
}
