#pragma once

#include <array>
#include <vector>

#include "expression/derivative.hpp"
#include "search/moments.hpp"
#include "weights/weight.hpp"

namespace fewbit::solver {

/// f' and the measure that w puts there, at the nodes of one panel.
struct PanelNodes {
  static constexpr size_t kCount = 8;
  std::array<double, kCount> value;
  std::array<double, kCount> measure;  ///< rule weight times half width times w(x)
};

/// Running integrals of w, w f', w f'^2 from the left end of the derivative's interval, at any x.
/// Panels of an eight-point Gauss-Legendre rule, halved until halving changes nothing, with borders
/// at all kinks of f and breaks of w; f' is evaluated once for whole panels and again for the
/// partial panel of a question. Memory grows with the number of panels only.
class PrefixIntegral {
 public:
  /// Both must outlive this object.
  PrefixIntegral(const Derivative& derivative, const Weight& weight);

  /// Integrals over [lo, x].
  Moments at(double x) const;
  Moments total() const { return prefix_.back(); }

  /// The integral of w (f' - level)^2 over [a, b], without cancellation.
  double squared_error(double a, double b, double level) const;
  /// The integral of w (f' - lower) (upper - f') over [a, b] within one branch of f'.
  double rounding_variance(double a, double b, double lower, double upper) const;

  const Derivative& derivative() const { return derivative_; }
  const Weight& weight() const { return weight_; }

 private:
  size_t panel_of(double x) const;
  template <class Integrand>
  double integrate(double a, double b, const Integrand& integrand) const;

  const Derivative& derivative_;
  const Weight& weight_;
  std::vector<double> borders_;
  std::vector<size_t> pieces_;  ///< piece of f' that holds each panel
  std::vector<PanelNodes> nodes_;
  std::vector<Moments> prefix_;  ///< at each border
};

}  // namespace fewbit::solver
