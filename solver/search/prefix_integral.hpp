#pragma once

#include <vector>

#include "expression/derivative.hpp"
#include "search/mesh.hpp"
#include "search/moments.hpp"
#include "weights/weight.hpp"

namespace fewbit::solver {

/// How far integrals over panels may be from the truth. With E the computed squared error of a
/// table, the true one lies between (sqrt((E - quadrature) / (1 + relative)) - noise)^2 and
/// (sqrt((E + quadrature) / (1 - relative)) + noise)^2: rounding of f' is a second function added
/// to q - f', and noise is the norm of that function.
struct Uncertainty {
  double quadrature = 0.0;
  double noise = 0.0;
  double relative = 0.0;

  Uncertainty& operator+=(const Uncertainty& other);

  /// The largest true error where `computed` was found, and the smallest.
  double above(double computed) const;
  double below(double computed) const;
};

/// Running integrals of w, w v, w v^2 from the left end of the derivative's interval, at any x,
/// with v = f' - center(), on the panels of mesh.hpp; f' is evaluated once for whole panels and
/// again for the partial panel of a question. Memory grows with the number of panels only.
class PrefixIntegral {
 public:
  /// Both must outlive this object. `value_error`: what f' may be off by beside rounding. Throws
  /// Error where no number of panels makes the integrals certain to a thousandth.
  PrefixIntegral(const Derivative& derivative, const Weight& weight, double value_error = 0.0);

  /// The mean of f', so that differences of second moments cancel least.
  double center() const { return center_; }

  /// Integrals over [lo, x].
  Moments at(double x) const;
  Moments total() const { return prefix_.back(); }

  /// Integrals over [a, b], without cancellation.
  Moments between(double a, double b) const;
  /// The integral of w (f' - level)^2 over [a, b], without cancellation.
  double squared_error(double a, double b, double level) const;
  /// The integral of w (f' - lower) (upper - f') over [a, b] within one branch of f'.
  double rounding_variance(double a, double b, double lower, double upper) const;

  /// Of the squared error of any table.
  const Uncertainty& uncertainty() const { return uncertainty_; }
  /// Of the integral of w (f' - a) (b - f') over the gaps [a, b] of any levels; without noise.
  const Uncertainty& coding_uncertainty() const { return coding_uncertainty_; }
  /// Of one that is `level` on [a, b]: nothing where f' is that constant.
  Uncertainty uncertainty(double a, double b, double level) const;

  const Derivative& derivative() const { return derivative_; }
  const Weight& weight() const { return weight_; }
  const std::vector<Panel>& panels() const { return panels_; }

 private:
  size_t panel_of(double x) const;
  template <class Visit>
  void for_each_panel(double a, double b, const Visit& visit) const;
  template <class Integrand>
  double integrate(double a, double b, const Integrand& integrand) const;

  const Derivative& derivative_;
  const Weight& weight_;
  std::vector<Panel> panels_;
  std::vector<PanelNodes> nodes_;
  std::vector<Moments> prefix_;  ///< at each panel's left end, and at the last one's right end
  std::vector<double> noise_;    ///< squares, by panel
  double center_ = 0.0;
  Uncertainty uncertainty_;
  Uncertainty coding_uncertainty_;
};

}  // namespace fewbit::solver
