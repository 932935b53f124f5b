#include "verify/findings.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace fewbit::solver {

void Findings::compare(const std::string& claim, double printed, double seen, double tolerance) {
  const bool holds = std::fabs(seen - printed) <= tolerance;  // false for NaN
  add(claim, holds,
      fmt::format("printed {}, recomputed {}, {:.2g} apart, {:.2g} accepted", shortest(printed),
                  shortest(seen), std::fabs(seen - printed), tolerance));
}

void Findings::summarise(const std::string& claim, const std::string& detail) {
  const auto failed = [&](const Finding& finding) {
    return !finding.holds && finding.claim.rfind(claim + "[", 0) == 0;
  };
  if (std::none_of(list_.begin(), list_.end(), failed)) add(claim, true, detail);
}

}  // namespace fewbit::solver
