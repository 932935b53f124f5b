#include "report/axis.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace fewbit::solver {

namespace {

/// The smallest of 1, 2, 5, 10 times a power of ten that is not below `raw`.
double round_step(double raw) {
  const double decade = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * decade >= raw * (1.0 - 1e-9)) return factor * decade;
  }
  return 10.0 * decade;
}

}  // namespace

ChartAxis ChartAxis::linear(double lo, double hi, double from, double to) {
  if (!(lo < hi)) {
    lo -= 0.5;
    hi = lo + 1.0;
  }
  return {false, lo, hi, from, to};
}

ChartAxis ChartAxis::logarithmic(double lo, double hi, double from, double to) {
  double first = std::floor(std::log10(lo));
  const double last = std::ceil(std::log10(hi));
  if (first == last) first -= 1.0;
  return {true, first, last, from, to};
}

double ChartAxis::pixel(double value) const {
  const double place = log_ ? std::log10(value) : value;
  return from_ + (place - lo_) / (hi_ - lo_) * (to_ - from_);
}

std::vector<double> ChartAxis::ticks(int count) const {
  double step = round_step((hi_ - lo_) / count);
  if (log_) step = std::max(1.0, std::round(step));
  std::vector<double> values;
  const double slack = 1e-9 * step;
  for (double i = std::ceil((lo_ - slack) / step); i * step <= hi_ + slack; i += 1.0) {
    // Adding zero turns -0 into 0.
    values.push_back(log_ ? std::pow(10.0, i * step) : i * step + 0.0);
  }
  return values;
}

std::string tick_label(double value) {
  if (std::abs(value) < 1e-12 && std::abs(value) > 0.0) return fmt::format("{:.0e}", value);
  return fmt::format("{:.6g}", value);
}

}  // namespace fewbit::solver
