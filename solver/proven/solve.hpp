#pragma once

#include "search/search_table.hpp"
#include "table/table.hpp"

namespace fewbit::solver {

struct SolveOptions {
  SearchOptions search;
  bool verify = true;     ///< false: take the search at its word
  StageCall begins = {};  ///< in the thread that solves
};

/// The best table for `problem`, with its proof: what search_table() finds, once verify_table(),
/// which shares no code with the search, has come to the same figures. Throws Error with both
/// figures where it has not, and where the problem has no answer (see search_table).
Table solve(const Problem& problem, const SolveOptions& options = {});

}  // namespace fewbit::solver
