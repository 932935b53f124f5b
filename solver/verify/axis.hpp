#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "expression/derivative.hpp"
#include "table/table.hpp"
#include "weights/weight.hpp"

namespace fewbit::solver {

/// Integrals of w, w (f' - c) and w (f' - c)^2 for some centre c.
struct AxisMoments {
  double mass = 0.0;
  double first = 0.0;
  double second = 0.0;

  AxisMoments& operator+=(const AxisMoments& other);
  AxisMoments operator-(const AxisMoments& other) const;
};

/// The line on which a problem lives: x over its domain, or |x| when `folded`, with f', the density
/// of the inputs on it, and integrals of both by Gauss-Legendre panels that are halved until they
/// are exact to rounding.
class InputAxis {
 public:
  InputAxis(const Problem& problem, bool folded);

  double lo() const { return derivative_->lo(); }
  double hi() const { return derivative_->hi(); }
  bool folded() const { return folded_; }
  const Derivative& derivative() const { return *derivative_; }

  double density(double x) const;

  /// The density on (a, b), which holds no break, where it is constant between breaks.
  double density_between(double a, double b) const;

  /// f' is even as far as the domain reaches to either side.
  bool has_even_derivative() const;

  /// Moments of all values about center().
  const AxisMoments& total() const { return total_; }
  double center() const { return center_; }

  /// What rounding of x may change w by, as a share of it.
  double displacement() const { return displacement_; }

  /// f' runs so much farther than it does under a smooth w that its swing measures nothing:
  /// integrals are right to a share of themselves instead. Unbiased tables span the whole swing.
  bool is_far() const { return far_; }

  /// What integrals of w (f' - q)^2 may be off by: `share` of the largest there can be with what
  /// rounding of x moves, or where f' is far 32 times that share of the variance.
  double hidden(double share) const;

  /// The root of the integral of w times the square of what rounding may do to f'.
  double noise() const { return noise_; }

  /// Moments about center() over [lo(), x]; the error is a few ulp of total().
  AxisMoments upto(double x) const;

  /// Moments about `center` over [a, b] by quadrature of that stretch alone: no cancellation.
  AxisMoments integrate(double a, double b, double center) const;

  /// Integral of w (f' - left)(right - f') over [a, b], where f' lies between the two: no
  /// cancellation.
  double integrate_between(double a, double b, double left, double right) const;

  /// Largest less smallest f'.
  double span() const { return span_; }

  /// The integral of w times the square of that.
  double largest() const { return total_.mass * span_ * span_; }

  /// Smallest and largest f' on [a, b], one-sided at the ends; exact through the monotone branches.
  std::pair<double, double> range(double a, double b) const;

 private:
  struct Panel {
    double lo;
    double hi;
    size_t piece;
    AxisMoments before;  ///< of all panels to the left
  };

  std::vector<double> cuts() const;
  void add_stretches(std::vector<double>& cuts) const;
  bool weight_touches(double a, double b) const;
  double longest_panel(double a, double b) const;
  void lay_coarsely(double a, double b, size_t piece, std::vector<Panel>& coarse);
  void lay_panels();
  void center_coarsely(std::vector<Panel>& coarse);
  void halve(const Panel& panel, const AxisMoments& whole, int depth);
  bool agree(const Panel& panel, const AxisMoments& whole, const AxisMoments& halves) const;
  double rounding_at(double x, size_t piece) const;
  void center_moments();
  double mass_moved(const Panel& panel) const;
  AxisMoments panel_integral(double a, double b, size_t piece, double center) const;

  std::shared_ptr<const Weight> weight_;
  Expression function_;
  Domain domain_;
  bool folded_;
  bool may_be_far_;
  std::unique_ptr<Derivative> derivative_;
  double center_ = 0.0;
  double noise_ = 0.0;
  double displacement_ = 0.0;
  bool far_ = false;
  double deviation_ = 0.0;  ///< of f' under w, roughly
  double scale_ = 0.0;      ///< mass and
  double span_ = 0.0;       ///< swing of f', for the panels' tolerance
  double size_ = 0.0;       ///< largest |f'|
  std::vector<Panel> panels_;
  AxisMoments total_;
};

/// The domain with infinite ends replaced by those of the weight's support.
Domain finite_domain(const Problem& problem, const Weight& weight);

}  // namespace fewbit::solver
