#include "search/value_axis.hpp"

#include <algorithm>
#include <cmath>

#include "search/x_axis.hpp"

namespace fewbit::solver {

namespace {

double branch_min(const Branch& branch) {
  return std::min(branch.value_lo, branch.value_hi);
}
double branch_max(const Branch& branch) {
  return std::max(branch.value_lo, branch.value_hi);
}

/// A branch in short steps, in the order of their values.
std::vector<Branch> steps_of(const Derivative& derivative, const Branch& branch,
                             const std::vector<double>& points) {
  std::vector<double> x{branch.lo};
  const auto first = std::upper_bound(points.begin(), points.end(), branch.lo);
  const auto last = std::lower_bound(points.begin(), points.end(), branch.hi);
  if (first < last) x.insert(x.end(), first, last);
  x.push_back(branch.hi);
  std::vector<double> values(x.size());
  derivative.evaluate(x, branch.piece, values);
  std::vector<Branch> steps;
  for (size_t i = 0; i + 1 < x.size(); ++i) {
    steps.push_back({x[i], x[i + 1], values[i], values[i + 1], branch.direction, branch.piece});
  }
  if (branch.direction < 0) std::reverse(steps.begin(), steps.end());
  return steps;
}

}  // namespace

ValueAxis::ValueAxis(const PrefixIntegral& integral)
    : integral_(integral), derivative_(integral.derivative()) {
  lo_ = derivative_.min_value();
  hi_ = derivative_.max_value();
  for (const Branch& branch : derivative_.branches()) {
    const Moments at_lo = integral_.at(branch.lo);
    const Moments at_hi = integral_.at(branch.hi);
    // An oscillation far outside the mass has thousands of branches that no prefix ever sees.
    if (!((at_hi - at_lo).mass > 0.0)) continue;
    branches_.push_back(branch);
    at_lo_.push_back(at_lo);
    at_hi_.push_back(at_hi);
  }
  constexpr size_t kSteps = 512;
  const std::vector<double> points = equal_cost_points(integral, kSteps);
  for (const Branch& branch : branches_) {
    const bool flat = branch.direction == 0;
    steps_.push_back(flat ? std::vector<Branch>{} : steps_of(derivative_, branch, points));
  }
}

double ValueAxis::solve(size_t branch, double v) const {
  const std::vector<Branch>& steps = steps_[branch];
  const auto step = std::partition_point(steps.begin(), steps.end(),
                                         [v](const Branch& s) { return branch_max(s) < v; });
  return derivative_.solve(step == steps.end() ? steps.back() : *step, v);
}

Moments ValueAxis::below(double v, bool with_atoms) const {
  Moments sum;
  for (size_t i = 0; i < branches_.size(); ++i) {
    const Branch& branch = branches_[i];
    const double top = branch_max(branch);
    if (branch.direction == 0) {
      // A flat branch is a point at its upper value.
      if (top < v || (with_atoms && top == v)) sum += at_hi_[i] - at_lo_[i];
    } else if (v >= top) {
      sum += at_hi_[i] - at_lo_[i];
    } else if (v > branch_min(branch)) {
      const Moments cut = integral_.at(solve(i, v));
      sum += branch.direction > 0 ? cut - at_lo_[i] : at_hi_[i] - cut;
    }
  }
  return sum;
}

double ValueAxis::density(double v) const {
  double sum = 0.0;
  for (size_t i = 0; i < branches_.size(); ++i) {
    const Branch& branch = branches_[i];
    if (branch.direction == 0 || v <= branch_min(branch) || v >= branch_max(branch)) continue;
    const double x = solve(i, v);
    const double slope = std::abs(derivative_.slope(x, branch.piece));
    if (slope > 0.0) sum += integral_.weight().density(x) / slope;
  }
  return sum;
}

std::vector<Border> ValueAxis::first_borders(size_t count) const {
  std::vector<double> values{lo_, hi_};
  for (const double x : equal_cost_points(integral_, count)) values.push_back(derivative_.value(x));
  std::vector<double> atoms;
  for (const Branch& branch : branches_) {
    values.push_back(branch.value_lo);
    values.push_back(branch.value_hi);
    if (branch.direction == 0) atoms.push_back(branch_max(branch));
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  std::sort(atoms.begin(), atoms.end());
  std::vector<Border> borders;
  for (const double v : values) {
    const bool atom = std::binary_search(atoms.begin(), atoms.end(), v);
    if (atom || v == lo_) borders.push_back({v, value(v), below(v, false)});
    if (v != lo_ || atom) borders.push_back(border(v));
  }
  return borders;
}

}  // namespace fewbit::solver
