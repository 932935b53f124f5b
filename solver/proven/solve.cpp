#include "proven/solve.hpp"

#include <string>

#include "base/error.hpp"
#include "verify/verify.hpp"

namespace fewbit::solver {

Table solve(const Problem& problem, const SolveOptions& options) {
  Table table = search_table(problem, options.search, options.begins);
  if (!options.verify) return table;
  if (options.begins) options.begins(Stage::verification);
  std::string faults;
  for (const Finding& finding : verify_table(table)) {
    if (!finding.holds)
      faults += (faults.empty() ? "" : "; ") + finding.claim + ": " + finding.detail;
  }
  if (!faults.empty()) {
    throw Error("the search and the verifier do not agree on the table for " +
                problem.function.name + ", which is not printed therefore: " + faults);
  }
  return table;
}

}  // namespace fewbit::solver
