#pragma once

#include <functional>

#include "expression/derivative.hpp"
#include "table/table.hpp"
#include "weights/weight.hpp"

namespace fewbit::solver {

struct SearchOptions {
  double target_gap = 8e-10;  ///< stop refining once relative_gap is at most this
  double patience = 1.0;      ///< how much work goes into one table's refinement, in units of what
                              ///< takes about a second; the gap says what was reached
  bool quick = false;  ///< few cells, few starts and no proof: near the best table in a fraction of
                       ///< the work
};

/// What a solution goes through, in this order.
enum class Stage {
  search,     ///< for the least squared error
  smoothing,  ///< under the smoothed objective alone
  bias,       ///< its measurement
  verification
};

/// Told of each stage as it begins.
using StageCall = std::function<void(Stage)>;

/// The best table for `problem`, with its proof as the search sees it: solve() has it verified.
/// Throws Error where the problem has no answer: f not differentiable, f' constant, a weight
/// without mass in the domain, an infinite domain under a weight that is not integrable.
Table search_table(const Problem& problem, const SearchOptions& options = {},
                   const StageCall& begins = {});

/// Error of any table for its own problem: the integral of w (f' - q)^2 (for Form::unbiased the
/// expected squared error), with what quadrature and rounding may have hidden.
double table_error(const Table& table);

/// The integral of the problem's weight over its domain.
double weight_mass(const Problem& problem);

/// Root mean square of the smoothed bias of any table; for a weight without a unit model (uniform)
/// the one of normal(0, 1).
double smoothed_bias(const Table& table);

}  // namespace fewbit::solver
