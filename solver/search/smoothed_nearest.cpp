#include "search/smoothed_nearest.hpp"

#include <algorithm>

namespace fewbit::solver {
namespace {

class Walk {
 public:
  Walk(const Derivative& derivative, const std::vector<double>& levels) : derivative_(derivative) {
    step_.levels = levels;
    for (size_t a = 0; a + 1 < levels.size(); ++a) {
      midpoints_.push_back(0.5 * (levels[a] + levels[a + 1]));
    }
  }

  void follow(const Branch& branch) {
    turn_to(nearest(branch.value_lo), branch.lo);
    const int last = nearest(branch.value_hi);
    while (step_.codes.back() != last) {
      const int code = step_.codes.back();
      const int next = code < last ? code + 1 : code - 1;
      const double border = midpoints_[static_cast<size_t>(std::min(code, next))];
      turn_to(next, branch.direction == 0 ? branch.hi : derivative_.solve(branch, border));
    }
  }

  const StepFunction& result() const { return step_; }

 private:
  int nearest(double value) const {
    const auto above = std::lower_bound(midpoints_.begin(), midpoints_.end(), value);
    return static_cast<int>(above - midpoints_.begin());
  }

  void turn_to(int code, double x) {
    if (step_.codes.empty()) step_.codes.push_back(code);
    if (step_.codes.back() == code) return;
    // Where two borders fall together the step between them has no width.
    if (!step_.thresholds.empty() && x <= step_.thresholds.back()) {
      step_.codes.back() = code;
      if (step_.codes.size() > 1 && step_.codes[step_.codes.size() - 2] == code) {
        step_.codes.pop_back();
        step_.thresholds.pop_back();
      }
      return;
    }
    step_.thresholds.push_back(x);
    step_.codes.push_back(code);
  }

  const Derivative& derivative_;
  std::vector<double> midpoints_;
  StepFunction step_;
};

}  // namespace

StepFunction nearest_levels(const Derivative& derivative, const std::vector<double>& levels) {
  Walk walk(derivative, levels);
  for (const Branch& branch : derivative.branches()) walk.follow(branch);
  return walk.result();
}

}  // namespace fewbit::solver
