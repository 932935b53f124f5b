#pragma once

#include <vector>

#include "table/table.hpp"

namespace fewbit::solver {

/// Samples of more different values than this become a histogram: it has about as many bins.
inline constexpr size_t kMostValues = 1024;

struct ValueMass {
  double value;
  double mass;
};

/// A weight of kind `samples` within a finite domain.
struct DiscreteWeight {
  Domain domain;
  std::vector<ValueMass> points;  ///< ascending, at least one, masses above 0

  double mass() const;
};

/// Throws Error where `spec` has no values or too many, values do not ascend within +-1e100, masses
/// are negative or not finite, or no mass lies in the domain. Infinite ends of `domain` become the
/// outermost values.
DiscreteWeight discrete_weight(const WeightSpec& spec, const Domain& domain);

}  // namespace fewbit::solver
