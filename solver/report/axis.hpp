#pragma once

#include <string>
#include <vector>

namespace fewbit::solver {

/// A linear or logarithmic axis that maps [lo, hi] to the pixels [from, to].
class ChartAxis {
 public:
  static ChartAxis linear(double lo, double hi, double from, double to);
  /// Whole decades around [lo, hi]; both positive.
  static ChartAxis logarithmic(double lo, double hi, double from, double to);

  double pixel(double value) const;

  /// Round values inside the axis, at most about `count` of them.
  std::vector<double> ticks(int count) const;

 private:
  ChartAxis(bool log, double lo, double hi, double from, double to)
      : log_(log), lo_(lo), hi_(hi), from_(from), to_(to) {}

  bool log_;
  double lo_;
  double hi_;
  double from_;
  double to_;
};

/// A tick as text: "0.5", "1e-09".
std::string tick_label(double value);

}  // namespace fewbit::solver
