// Newton's method from the table's own numbers to the stationary point of F near by: how far it
// leads is how wrong they are, whatever the curvature. F has corners where f' or w jumps; a
// threshold stays at one if F falls on neither side. Thresholds of a narrow data type were rounded
// down from there.

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>
#include <fmt/format.h>

#include "table/rounding.hpp"
#include "verify/conditions.hpp"
#include "verify/smoothed_expansion.hpp"

namespace fewbit::solver {

namespace {

using Eigen::VectorXd;

constexpr int kSteps = 40;
constexpr double kPrinted = 2e-12;    // half a unit of the 12 decimals that are printed, and room
constexpr double kUnsettled = 1e-10;  // what the search may leave

class SmoothedCheck {
 public:
  SmoothedCheck(const Table& table, const InputAxis& axis, Findings& findings)
      : table_(table),
        findings_(findings),
        objective_(table.problem, axis),
        cuts_(static_cast<Eigen::Index>(table.thresholds.size())),
        point_(table) {}

  void run() {
    const bool rounded = table_.problem.dtype != DataType::exact;
    for (double& s : point_.thresholds) s = nearby_corner(s);
    // The levels are those of the exact thresholds: they lead there.
    if (rounded) recover_thresholds();
    if (!settle()) {
      findings_.add("stationary", rounded || table_.residual > 0.0, "not checked: no minimum near");
      return;
    }
    for (Eigen::Index i = 0; i < cuts_; ++i) compare_threshold(static_cast<size_t>(i));
    for (size_t j = 0; j < table_.levels.size(); ++j) compare_level(j);
    findings_.add("stationary", rounded || distance_ >= 0.1 * table_.residual,
                  fmt::format("{:.2g} from a minimum, {:.2g} printed", distance_, table_.residual));
  }

 private:
  double nearby_corner(double s) const {
    const auto& corners = objective_.corners();
    const auto corner = std::lower_bound(corners.begin(), corners.end(), s - kPrinted);
    return corner != corners.end() && *corner <= s + kPrinted ? *corner : s;
  }

  /// Newton's method until nothing moves; false where F has no minimum in sight.
  bool settle() {
    for (int i = 0; i < kSteps; ++i) {
      const SmoothedExpansion at = expand();
      const Eigen::LDLT<Eigen::MatrixXd> factor(at.hessian);
      if (factor.info() != Eigen::Success || !factor.isPositive()) return false;
      rounding_ = factor.solve(factor.solve(at.rounding).transpose()).diagonal().cwiseAbs();
      rounding_ = rounding_.cwiseSqrt();
      if (!move(factor.solve(-at.gradient))) return false;
      if (length_ < kPrinted || (i > 2 && length_ < kUnsettled)) return true;
    }
    return false;
  }

  /// The same for the thresholds alone, each near its rounded value.
  void recover_thresholds() {
    for (int i = 0; i < kSteps; ++i) {
      const SmoothedExpansion at = expand();
      Eigen::MatrixXd matrix = at.hessian.topLeftCorner(cuts_, cuts_);
      Eigen::LLT<Eigen::MatrixXd> factor(matrix);
      for (double damping = 1e-4; factor.info() != Eigen::Success && damping < 1e4; damping *= 8) {
        matrix.diagonal() += damping * matrix.diagonal().cwiseAbs();
        factor.compute(matrix);
      }
      VectorXd step = VectorXd::Zero(at.gradient.size());
      step.head(cuts_) = factor.solve(-at.gradient.head(cuts_));
      for (Eigen::Index k = 0; k < cuts_; ++k) {
        const double s = table_.thresholds[static_cast<size_t>(k)];
        const double next = -round_down(-std::nextafter(s, HUGE_VAL), table_.problem.dtype);
        const double at_now = point_.thresholds[static_cast<size_t>(k)];
        const double room = 2.0 * (next - s);
        step(k) = std::clamp(at_now + step(k), s - room, next + room) - at_now;
      }
      if (!move(step) || length_ < kPrinted) return;
    }
  }

  /// F around the point; what stays at a corner has no slope and no coupling.
  SmoothedExpansion expand() const {
    SmoothedExpansion at = objective_.expand(point_);
    for (Eigen::Index i = 0; i < cuts_; ++i) {
      if (at.fall(i) <= 0.0 && at.rise(i) >= 0.0 && at.fall(i) < at.rise(i)) {
        hold(at, i);
      } else {
        at.gradient(i) = at.fall(i) > 0.0 ? at.fall(i) : at.rise(i);
      }
    }
    return at;
  }

  static void hold(SmoothedExpansion& at, Eigen::Index i) {
    at.gradient(i) = 0.0;
    at.hessian.row(i).setZero();
    at.hessian.col(i).setZero();
    at.hessian(i, i) = 1.0;
    at.rounding.row(i).setZero();
    at.rounding.col(i).setZero();
  }

  /// Takes the step, no threshold beyond the next corner; false if they lose their order.
  bool move(const VectorXd& step) {
    const auto& corners = objective_.corners();
    length_ = 0.0;
    for (Eigen::Index i = 0; i < cuts_; ++i) {
      double& s = point_.thresholds[static_cast<size_t>(i)];
      const double from = s;
      const auto above = std::upper_bound(corners.begin(), corners.end(), from);
      const auto below = std::lower_bound(corners.begin(), corners.end(), from);
      s += step(i);
      if (above != corners.end()) s = std::min(s, *above);
      if (below != corners.begin()) s = std::max(s, *std::prev(below));
      length_ = std::max(length_, std::fabs(s - from));
      if (i > 0 && !(point_.thresholds[static_cast<size_t>(i) - 1] < s)) return false;
    }
    for (size_t j = 0; j < point_.levels.size(); ++j) {
      const double change = step(cuts_ + static_cast<Eigen::Index>(j));
      point_.levels[j] += change;
      length_ = std::max(length_, std::fabs(change));
    }
    return std::isfinite(length_);
  }

  double accepted(Eigen::Index i) const {
    return kUnsettled + 8.0 * rounding_(i) + 2.0 * table_.residual;
  }

  void compare_threshold(size_t i) {
    const double s = table_.thresholds[i];
    const double exact = point_.thresholds[i];
    const double accepted = this->accepted(static_cast<Eigen::Index>(i));
    distance_ = std::max(distance_, std::fabs(exact - s));
    const DataType dtype = table_.problem.dtype;
    const bool holds = s == round_down(exact, dtype) || (s >= round_down(exact - accepted, dtype) &&
                                                         s <= round_down(exact + accepted, dtype));
    findings_.item("thresholds", i, holds,
                   fmt::format("{} should be {:.2g} higher, {:.2g} accepted", shortest(s),
                               exact - s, accepted));
  }

  void compare_level(size_t j) {
    const double miss = point_.levels[j] - table_.levels[j];
    const double accepted = this->accepted(cuts_ + static_cast<Eigen::Index>(j));
    findings_.item("levels", j, std::fabs(miss) <= accepted,
                   fmt::format("{} should be {:.2g} higher, {:.2g} accepted",
                               shortest(table_.levels[j]), miss, accepted));
  }

  const Table& table_;
  Findings& findings_;
  const SmoothedObjectiveCheck objective_;
  Eigen::Index cuts_;
  Table point_;
  VectorXd rounding_;
  double length_ = 0.0;
  double distance_ = 0.0;
};

}  // namespace

void check_smoothed(const Table& table, const InputAxis& axis, Findings& findings) {
  SmoothedCheck(table, axis, findings).run();
}

}  // namespace fewbit::solver
