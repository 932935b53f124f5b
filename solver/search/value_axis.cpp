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

}  // namespace

ValueAxis::ValueAxis(const PrefixIntegral& integral)
    : integral_(integral), derivative_(integral.derivative()) {
  lo_ = derivative_.min_value();
  hi_ = derivative_.max_value();
  for (const Branch& branch : derivative_.branches()) {
    at_lo_.push_back(integral_.at(branch.lo));
    at_hi_.push_back(integral_.at(branch.hi));
  }
}

Moments ValueAxis::below(double v, bool with_atoms) const {
  Moments sum;
  const std::vector<Branch>& branches = derivative_.branches();
  for (size_t i = 0; i < branches.size(); ++i) {
    const Branch& branch = branches[i];
    if (branch.direction == 0) {
      // A flat branch is a point at its upper value.
      const double atom = branch_max(branch);
      if (atom < v || (with_atoms && atom == v)) sum += at_hi_[i] - at_lo_[i];
    } else if (v >= branch_max(branch)) {
      sum += at_hi_[i] - at_lo_[i];
    } else if (v > branch_min(branch)) {
      const Moments cut = integral_.at(derivative_.solve(branch, v));
      sum += branch.direction > 0 ? cut - at_lo_[i] : at_hi_[i] - cut;
    }
  }
  return sum;
}

double ValueAxis::density(double v) const {
  double sum = 0.0;
  for (const Branch& branch : derivative_.branches()) {
    if (branch.direction == 0 || v <= branch_min(branch) || v >= branch_max(branch)) continue;
    const double x = derivative_.solve(branch, v);
    const double slope = std::abs(derivative_.slope(x, branch.piece));
    if (slope > 0.0) sum += integral_.weight().density(x) / slope;
  }
  return sum;
}

std::vector<Border> ValueAxis::first_borders(size_t count) const {
  std::vector<double> values{lo_, hi_};
  for (const double x : equal_cost_points(integral_, count)) values.push_back(derivative_.value(x));
  std::vector<double> atoms;
  for (const Branch& branch : derivative_.branches()) {
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
    if (atom || v == lo_) borders.push_back({v, below(v, false)});
    if (v != lo_ || atom) borders.push_back({v, below(v, true)});
  }
  return borders;
}

}  // namespace fewbit::solver
