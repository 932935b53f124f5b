#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/parallel.hpp"
#include "table/table.hpp"

namespace fewbit::solver {

/// What to compare: every combination of the lists.
struct Study {
  std::vector<FunctionSpec> functions;
  std::vector<int> levels;
  std::vector<Form> forms{Form::levels};
  std::vector<Objective> objectives{Objective{}};
  std::vector<WeightSpec> weights{WeightSpec{}};
  std::optional<Domain> domain;  ///< none: default_domain of the weight
};

/// A problem with its table, or why there is none.
struct Result {
  Problem problem;
  std::optional<Table> table;
  std::string failure;
  std::string file = {};  ///< that the table was read from; empty: it was solved
  std::string data = {};  ///< where a weight of data was read from
};

/// The range of the data for a histogram, [-10, 10] for every other weight.
Domain default_domain(const WeightSpec& weight);

/// All combinations, each once: functions outermost, sizes innermost. The smoothed objective goes
/// with the levels form whatever `forms` says.
std::vector<Problem> problems_of(const Study& study);

/// Solves in parallel; the order is that of `problems`. A problem without an answer is kept with
/// its reason.
std::vector<Result> solve_all(const std::vector<Problem>& problems,
                              const ProgressCall& progress = {});

}  // namespace fewbit::solver
