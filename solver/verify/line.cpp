#include "verify/line.hpp"

namespace fewbit::solver {

XLine::XLine(const InputAxis& axis) : axis_(axis) {
  int direction = 0;
  double end = 0.0;
  const auto step = [&](double from, double to, double at) {
    const int sign = (to > from) - (to < from);
    if (sign * direction < 0) turns_.push_back(at);
    if (sign != 0) direction = sign;
  };
  for (const Branch& branch : axis.derivative().branches()) {
    if (branch.lo > axis.lo()) step(end, branch.value_lo, branch.lo);
    // A flat branch may still rise or fall by rounding: nothing is said of its inside.
    step(branch.value_lo, branch.value_hi, branch.lo);
    end = branch.value_hi;
  }
}

LinePoint XLine::point(double at) const {
  const auto first = std::lower_bound(turns_.begin(), turns_.end(), at);
  const auto last = std::upper_bound(first, turns_.end(), at);
  return {at, axis_.upto(at), static_cast<int>(first - turns_.begin()),
          static_cast<int>(last - turns_.begin())};
}

std::vector<LinePoint> XLine::fixed_points() const {
  std::vector<LinePoint> points;
  for (const Branch& branch : axis_.derivative().branches()) points.push_back(point(branch.lo));
  points.push_back(point(axis_.hi()));
  return points;
}

std::vector<LinePoint> ValueLine::fixed_points() const {
  std::vector<double> places = values_.atoms();
  places.push_back(values_.lowest());
  places.push_back(values_.highest());
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  std::vector<LinePoint> points;
  for (const double place : places) {
    points.push_back({place, values_.below(place, false), 0, 0});
    const LinePoint after = {place, values_.below(place, true), 0, 0};
    if (after.before.mass > points.back().before.mass) points.push_back(after);
  }
  return points;
}

}  // namespace fewbit::solver
