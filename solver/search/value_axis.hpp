#pragma once

#include "search/axis.hpp"
#include "search/prefix_integral.hpp"

namespace fewbit::solver {

/// The values of f': segments are sets {x : a < f'(x) <= b}. Built from the monotone branches of
/// f'; flat branches are points with mass.
class ValueAxis : public Axis {
 public:
  /// `integral` must outlive this object.
  explicit ValueAxis(const PrefixIntegral& integral);

  double lo() const override { return lo_; }
  double hi() const override { return hi_; }
  Moments prefix(double v) const override { return below(v, true); }
  Border border(double v) const override { return {v, value(v), prefix(v)}; }
  double swing(double a, double b) const override { return b - a; }
  bool is_monotone(double, double) const override { return true; }
  double value(double v) const override { return v - integral_.center(); }
  double slope(double) const override { return 1.0; }
  double density(double v) const override;
  bool jumps_across(double, double) const override { return false; }
  std::vector<Border> first_borders(size_t count) const override;

 private:
  Moments below(double v, bool with_atoms) const;
  double solve(size_t branch, double v) const;

  const PrefixIntegral& integral_;
  const Derivative& derivative_;
  double lo_;
  double hi_;
  std::vector<Branch> branches_;  ///< those with mass
  std::vector<Moments> at_lo_;    ///< x-prefix at each branch's lower end
  std::vector<Moments> at_hi_;
  std::vector<std::vector<Branch>> steps_;  ///< each branch in short steps: starts for Newton
};

}  // namespace fewbit::solver
