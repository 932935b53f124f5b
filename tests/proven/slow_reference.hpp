#pragma once

// The error of any table, and of the best levels that Lloyd's algorithm finds, by a quadrature that
// shares nothing with the solver: long double values of f' from the expression as it was typed, on
// panels so many that no adaptivity is needed. Whoever asks tells where f' and w have features.

#include <vector>

#include "table/table.hpp"

namespace fewbit::test {

/// Panels grow by a fixed ratio away from every center, from `finest` on.
struct Features {
  std::vector<double> centers;
  double finest;
};

class SlowReference {
 public:
  /// `domain` is finite; `cuts` are points where f' or w may jump, and a table's thresholds.
  SlowReference(const solver::Problem& problem, const solver::Domain& domain,
                const Features& features, std::vector<double> cuts);

  /// Integral of w (f' - q)^2, of its expectation for Form::unbiased.
  double error(const solver::Table& table) const;

  /// The least error that the form `levels` is found to have with as many levels, from several
  /// starts: every x takes the nearest level.
  double lloyd(int levels) const;

  double mass() const;
  /// The root of the integral of w times the square of what double precision does to f'.
  double noise() const;
  /// The same of what long double does: where f' cancels, not even the reference knows better.
  double own_noise() const;
  /// Largest minus smallest f' where w has mass.
  double range() const;

 private:
  struct Node {
    double x;
    long double value;
    double mass;
  };
  double descend(std::vector<double> levels) const;

  std::vector<Node> nodes_;  ///< by x
  double worst_rounding_ = 0.0;
  double own_noise_ = 0.0;      ///< its square
  std::vector<Node> by_value_;  ///< those with mass
};

}  // namespace fewbit::test
