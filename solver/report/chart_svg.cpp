#include "report/chart_svg.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "report/axis.hpp"
#include "report/names.hpp"
#include "report/svg.hpp"

namespace fewbit::solver {
inline namespace reporting {

namespace {

struct Range {
  double lo = std::numeric_limits<double>::infinity();
  double hi = -std::numeric_limits<double>::infinity();

  void add(double value) {
    lo = std::min(lo, value);
    hi = std::max(hi, value);
  }
  bool empty() const { return lo > hi; }
};

}  // namespace

std::string error_chart(const std::string& label, const std::vector<Series>& series) {
  constexpr double kLeft = 56;
  constexpr double kTop = 12;
  constexpr double kRight = 348;
  constexpr double kBottom = 190;
  Svg svg(360, 230, label);
  Range bits;
  Range errors;
  for (const auto& one : series) {
    for (size_t i = 0; i < one.x.size(); ++i) {
      bits.add(one.x[i]);
      if (one.y[i] > 0.0) errors.add(one.y[i]);
    }
  }
  if (errors.empty()) return svg.str(false);
  const Axis x = Axis::linear(bits.lo - 0.3, bits.hi + 0.3, kLeft, kRight);
  const Axis y = Axis::logarithmic(errors.lo, errors.hi, kBottom, kTop);
  for (const double value : y.ticks(6)) {
    svg.line("grid", kLeft, y.pixel(value), kRight, y.pixel(value));
    svg.text("", kLeft - 8, y.pixel(value) + 4, "end", tick_label(value));
  }
  for (double value = bits.lo; value <= bits.hi; value += 1.0) {
    svg.text("", x.pixel(value), kBottom + 18, "middle", tick_label(value));
  }
  svg.text("", (kLeft + kRight) / 2, kBottom + 36, "middle", "bits");
  for (const auto& one : series) {
    std::vector<Point> points;
    for (size_t i = 0; i < one.x.size(); ++i) {
      if (one.y[i] > 0.0) points.push_back({x.pixel(one.x[i]), y.pixel(one.y[i])});
    }
    svg.polyline(fmt::format("l{}", one.style % kSeriesStyles), points);
    for (size_t i = 0; i < one.x.size(); ++i) {
      if (one.y[i] > 0.0) {
        svg.marker(fmt::format("m{}", one.style % kSeriesStyles), one.style, x.pixel(one.x[i]),
                   y.pixel(one.y[i]),
                   fmt::format("{}, {} bits: {}", one.name, one.x[i], short_number(one.y[i])));
      }
    }
  }
  return svg.str(false);
}

std::string dot_chart(const std::string& label, const std::vector<std::string>& rows,
                      const std::vector<Series>& series, double floor, double goal) {
  constexpr double kLeft = 110;
  constexpr double kRight = 620;
  constexpr double kTop = 26;
  constexpr double kRow = 18;
  const double bottom = kTop + kRow * static_cast<double>(rows.size());
  Svg svg(640, bottom + 8, label);
  Range range;
  range.add(floor);
  if (goal > 0.0) range.add(goal);
  for (const auto& one : series) {
    for (const double value : one.x) range.add(std::max(value, floor));
  }
  const Axis x = Axis::logarithmic(range.lo, range.hi, kLeft, kRight);
  for (const double value : x.ticks(8)) {
    svg.line("grid", x.pixel(value), kTop, x.pixel(value), bottom);
    svg.text("", x.pixel(value), kTop - 9, "middle", tick_label(value));
  }
  if (goal > 0.0) svg.line("goal", x.pixel(goal), kTop, x.pixel(goal), bottom);
  const auto centre = [&](double row) { return kTop + kRow * (row + 0.5); };
  for (size_t i = 0; i < rows.size(); ++i) {
    svg.text("small", kLeft - 12, centre(static_cast<double>(i)) + 4, "end", rows[i]);
  }
  for (const auto& one : series) {
    for (size_t i = 0; i < one.x.size(); ++i) {
      svg.marker(fmt::format("m{}", one.style % kSeriesStyles), one.style,
                 x.pixel(std::max(one.x[i], floor)), centre(one.y[i]),
                 fmt::format("{}: {}", one.name, short_number(one.x[i])));
    }
  }
  return svg.str(false);
}

}  // namespace reporting
}  // namespace fewbit::solver
