// The difference d(x) = f'(x) - f'(-x) is compared at points so dense, by bounds of f's Taylor
// coefficients, that d is small everywhere when it is small there.

#include "expression/evenness.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "expression/derivative.hpp"
#include "expression/evaluate.hpp"
#include "expression/stretches.hpp"

namespace fewbit::solver {

namespace {

/// Cheap: most functions that are not even show it at once.
bool looks_even(const Expression& f, double end) {
  constexpr int kPoints = 64;
  constexpr double kGoldenRatio = 0.61803398874989484820;
  for (int i = 1; i <= kPoints; ++i) {
    const double part = i * kGoldenRatio - std::floor(i * kGoldenRatio);
    const double x = end * part * part * part;
    const double right = f.evaluate(Jet<double>{x, 1.0, 0.0}).first;
    const double left = f.evaluate(Jet<double>{-x, 1.0, 0.0}).first;
    if (std::abs(right - left) > 1e-6 * (std::abs(right) + std::abs(left))) return false;
  }
  return true;
}

bool is_even_between(const Derivative& d, double lo, double hi, double tolerance) {
  const size_t right = d.piece_of(0.5 * (lo + hi));
  const size_t left = d.piece_of(-0.5 * (lo + hi));
  for (const double x : stretch_points(lo, hi)) {
    if (!(std::abs(d.value(x, right) - d.value(-x, left)) <= tolerance)) return false;
  }
  return true;
}

}  // namespace

bool is_even(const Expression& f, double end) {
  if (!looks_even(f, end)) return false;
  try {
    const Derivative d(f, -end, end);
    const double largest = std::max(std::abs(d.min_value()), std::abs(d.max_value()));
    std::vector<double> cuts{0.0};
    for (const Stretch& stretch : d.stretches()) {
      if (!(stretch.error <= kEvenness * largest)) return false;
      cuts.push_back(std::abs(stretch.lo));
      cuts.push_back(std::abs(stretch.hi));
    }
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    for (size_t i = 0; i + 1 < cuts.size(); ++i) {
      if (!is_even_between(d, cuts[i], cuts[i + 1], kEvenness * largest)) return false;
    }
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace fewbit::solver
