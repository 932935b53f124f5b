#include "search/prefix_integral.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/text.hpp"

namespace fewbit::solver {

namespace {

/// Sums of positive terms, each of which is right to this share.
constexpr double kSumRounding = 4e-15;

}  // namespace

Uncertainty& Uncertainty::operator+=(const Uncertainty& other) {
  quadrature += other.quadrature;
  noise = std::hypot(noise, other.noise);
  relative = std::max(relative, other.relative);
  return *this;
}

double Uncertainty::above(double computed) const {
  if (quadrature == 0.0 && noise == 0.0 && computed == 0.0) return 0.0;
  if (!(relative < 1.0)) return std::numeric_limits<double>::infinity();
  const double exact = std::max(0.0, computed) * (1.0 + kSumRounding) + quadrature;
  const double root = std::sqrt(exact / (1.0 - relative)) + noise;
  return root * root;
}

double Uncertainty::below(double computed) const {
  const double exact = std::max(0.0, computed * (1.0 - kSumRounding) - quadrature);
  const double root = std::sqrt(exact / (1.0 + relative)) - noise;
  return root > 0.0 ? root * root : 0.0;
}

PrefixIntegral::PrefixIntegral(const Derivative& derivative, const Weight& weight,
                               double value_error)
    : derivative_(derivative), weight_(weight), panels_(lay_panels(derivative, weight)) {
  // Sums in long double, so that a prefix is right to the last bit or two of a double.
  long double mass = 0.0L;
  long double first = 0.0L;
  long double second = 0.0L;
  double squares = 0.0;
  value_error += derivative.pattern_error();
  for (const Panel& panel : panels_) {
    nodes_.push_back(panel_nodes(derivative, weight, panel.lo, panel.hi, panel.piece));
    const Moments moments = moments_of(nodes_.back(), 0.0);
    mass += moments.mass;
    first += moments.first;
  }
  if (mass > 0.0L) center_ = static_cast<double>(first / mass);
  mass = first = 0.0L;
  prefix_.push_back({});
  for (size_t i = 0; i < panels_.size(); ++i) {
    const Panel& panel = panels_[i];
    const Moments moments = moments_of(nodes_[i], center_);
    mass += moments.mass;
    first += moments.first;
    second += moments.second;
    prefix_.push_back(
        {static_cast<double>(mass), static_cast<double>(first), static_cast<double>(second)});
    const double noise = panel.constant ? 0.0 : panel.noise + value_error;
    noise_.push_back(moments.mass * noise * noise);
    squares += noise_.back();
    uncertainty_.quadrature += panel.error;
    uncertainty_.relative = std::max(uncertainty_.relative, panel.relative);
    coding_uncertainty_.quadrature += panel.coding;
  }
  uncertainty_.noise = std::sqrt(squares);
  coding_uncertainty_.relative = 2.25 * uncertainty_.relative;
  const double range = derivative.max_value() - derivative.min_value();
  const double scale = total().mass * range * range;
  if (scale > 0.0 && !(uncertainty_.quadrature <= 1e-3 * scale)) {
    const auto worst =
        std::max_element(panels_.begin(), panels_.end(),
                         [](const Panel& a, const Panel& b) { return !(a.error >= b.error); });
    throw Error("expression: cannot bound what the derivative does near x = " +
                shortest(0.5 * (worst->lo + worst->hi)) +
                " (sigmoid, softplus, tanh and expm1 cancel less than exp)");
  }
}

size_t PrefixIntegral::panel_of(double x) const {
  const auto after =
      std::upper_bound(panels_.begin(), panels_.end(), x,
                       [](double value, const Panel& panel) { return value < panel.lo; });
  return static_cast<size_t>(std::max<std::ptrdiff_t>(after - panels_.begin(), 1)) - 1;
}

Moments PrefixIntegral::at(double x) const {
  const size_t index = panel_of(x);
  const Panel& panel = panels_[index];
  if (x <= panel.lo) return prefix_[index];
  if (x >= panel.hi) return prefix_[index + 1];
  return prefix_[index] +
         moments_of(panel_nodes(derivative_, weight_, panel.lo, x, panel.piece), center_);
}

// Visits the nodes of the panels, or parts of panels, that make up [a, b].
template <class Visit>
void PrefixIntegral::for_each_panel(double a, double b, const Visit& visit) const {
  for (size_t i = panel_of(a); i < panels_.size() && panels_[i].lo < b; ++i) {
    const Panel& panel = panels_[i];
    const double lo = std::max(a, panel.lo);
    const double hi = std::min(b, panel.hi);
    if (hi <= lo) continue;
    const bool whole = lo == panel.lo && hi == panel.hi;
    visit(whole ? nodes_[i] : panel_nodes(derivative_, weight_, lo, hi, panel.piece));
  }
}

Moments PrefixIntegral::between(double a, double b) const {
  Moments sum;
  for_each_panel(a, b, [&](const PanelNodes& nodes) { sum += moments_of(nodes, center_); });
  return sum;
}

template <class Integrand>
double PrefixIntegral::integrate(double a, double b, const Integrand& integrand) const {
  long double sum = 0.0L;
  for_each_panel(a, b, [&](const PanelNodes& nodes) {
    for (size_t j = 0; j < PanelNodes::kCount; ++j) {
      sum += nodes.measure[j] * integrand(nodes.value[j]);
    }
  });
  return static_cast<double>(sum);
}

double PrefixIntegral::squared_error(double a, double b, double level) const {
  return integrate(a, b, [level](double v) { return (v - level) * (v - level); });
}

double PrefixIntegral::rounding_variance(double a, double b, double lower, double upper) const {
  return integrate(a, b, [lower, upper](double v) { return (v - lower) * (upper - v); });
}

Uncertainty PrefixIntegral::uncertainty(double a, double b, double level) const {
  Uncertainty sum;
  double squares = 0.0;
  for (size_t i = panel_of(a); i < panels_.size() && panels_[i].lo < b; ++i) {
    if (panels_[i].constant && nodes_[i].value[0] == level) continue;
    sum.quadrature += panels_[i].error;
    sum.relative = std::max(sum.relative, panels_[i].relative);
    squares += noise_[i];
  }
  sum.noise = std::sqrt(squares);
  return sum;
}

}  // namespace fewbit::solver
