#include "verify/value_measure.hpp"

#include <algorithm>

namespace fewbit::solver {

ValueMeasure::ValueMeasure(const InputAxis& axis)
    : axis_(axis), lowest_(axis.derivative().min_value()), highest_(axis.derivative().max_value()) {
  for (const Branch& branch : axis.derivative().branches()) {
    parts_.push_back({branch, axis.upto(branch.lo), axis.upto(branch.hi)});
    if (branch.direction == 0) {
      const double value = branch.value_lo + (branch.value_hi - branch.value_lo) / 2;
      atoms_.push_back(std::clamp(value, lowest_, highest_));
    }
  }
  std::sort(atoms_.begin(), atoms_.end());
  atoms_.erase(std::unique(atoms_.begin(), atoms_.end()), atoms_.end());
}

AxisMoments ValueMeasure::below(double value, bool inclusive) const {
  AxisMoments sum;
  for (const Part& part : parts_) {
    const Branch& branch = part.branch;
    const auto [small, large] = std::minmax(branch.value_lo, branch.value_hi);
    if (branch.direction == 0) {
      const double atom = std::clamp(small + (large - small) / 2, lowest_, highest_);
      if (atom < value || (inclusive && atom == value)) sum += part.after - part.before;
    } else if (value >= large) {
      sum += part.after - part.before;
    } else if (value > small) {
      const AxisMoments here = axis_.upto(axis_.derivative().solve(branch, value));
      sum += branch.direction > 0 ? here - part.before : part.after - here;
    }
  }
  return sum;
}

}  // namespace fewbit::solver
