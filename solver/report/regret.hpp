#pragma once

#include <vector>

#include "report/document.hpp"
#include "report/parallel.hpp"
#include "table/table.hpp"

namespace fewbit::solver {

/// How much a table for inputs of unknown scale loses against the table that knows it.
struct RegretStudy {
  std::vector<FunctionSpec> functions;
  std::vector<int> levels{2, 4, 8, 16};
  std::vector<Domain> ranges{{0.5, 2},    {0.5, 4},    {0.25, 2},  {0.25, 4},
                             {0.25, 8},   {0.125, 2},  {0.125, 4}, {0.125, 8},
                             {0.0625, 2}, {0.0625, 4}, {0.0625, 8}};  ///< sigma_min, sigma_max
  std::vector<double> sigmas{0.25, 0.5, 1, 2, 4};
};

/// One table of one range under one sigma.
struct Regret {
  size_t range;     ///< index into RegretStudy::ranges
  size_t function;  ///< index into RegretStudy::functions
  int levels;
  double sigma;
  double value;  ///< error under normal(0, sigma) / smallest possible error there - 1
};

/// Regrets of the levels-form tables fitted to each mixture range, for every function, size and
/// sigma whose best error is not zero.
std::vector<Regret> regrets(const RegretStudy& study, const ProgressCall& progress = {});

/// Worst case of each range (the smallest is marked), by sigma and by function.
std::vector<Section> regret_sections(const RegretStudy& study, const std::vector<Regret>& regrets);

}  // namespace fewbit::solver
