#pragma once

#include <optional>
#include <vector>

#include "expression/expression.hpp"
#include "expression/tape.hpp"

namespace fewbit::solver {

/// A quotient that is 0/0 at `x`, as the quotient of two polynomials in x - this->x, lowest
/// coefficients first: the Taylor polynomials of both sides, divided by the power that vanishes.
/// Within `radius` they err by less than rounding, in both derivatives too.
struct Fraction {
  double x;
  double radius;
  std::vector<double> above;
  std::vector<double> below;
};

/// Nothing where numerator / denominator is not 0/0 at x, has a pole there, is not smooth, or where
/// terms cancel so far that the polynomials would not tell f' to the digits of a proof. `largest`
/// is where the search for the radius starts; `rounded`: the numerator holds such polynomials
/// already, which know nothing of terms that are small beside their leading ones.
std::optional<Fraction> fraction_at(const Expression& numerator, const Expression& denominator,
                                    double x, double largest, bool rounded);

/// Adds the fraction to a tape; returns its index.
int add_fraction(TapeBuilder& tape, const Fraction& fraction);

}  // namespace fewbit::solver
