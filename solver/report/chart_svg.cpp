#include "report/chart_svg.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "report/axis.hpp"
#include "report/names.hpp"
#include "report/svg.hpp"

namespace fewbit::solver {

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

std::string marker_class(const Series& series) {
  return fmt::format("m{}", series.style % kSeriesStyles);
}

void draw_line(Svg& svg, const Series& series, const ChartAxis& x, const ChartAxis& y) {
  std::vector<Point> points;
  for (size_t i = 0; i < series.x.size(); ++i) {
    if (series.y[i] > 0.0) points.push_back({x.pixel(series.x[i]), y.pixel(series.y[i])});
  }
  svg.polyline(fmt::format("l{}", series.style % kSeriesStyles), points);
  for (size_t i = 0; i < series.x.size(); ++i) {
    if (!(series.y[i] > 0.0)) continue;
    svg.marker(marker_class(series), series.style, x.pixel(series.x[i]), y.pixel(series.y[i]),
               fmt::format("{}, {} bit{}: {}", series.name, series.x[i],
                           series.x[i] == 1.0 ? "" : "s", short_number(series.y[i])));
  }
}

}  // namespace

std::string bits_chart(const std::string& label, const std::vector<Series>& series) {
  constexpr double kLeft = 60;
  constexpr double kTop = 12;
  constexpr double kRight = 348;
  constexpr double kBottom = 190;
  Svg svg(360, 230, label);
  Range bits;
  Range values;
  for (const auto& one : series) {
    for (size_t i = 0; i < one.x.size(); ++i) {
      bits.add(one.x[i]);
      if (one.y[i] > 0.0) values.add(one.y[i]);
    }
  }
  if (values.empty()) return svg.str(false);
  const ChartAxis x = ChartAxis::linear(bits.lo - 0.3, bits.hi + 0.3, kLeft, kRight);
  const ChartAxis y = ChartAxis::logarithmic(values.lo, values.hi, kBottom, kTop);
  for (const double value : y.ticks(6)) {
    svg.line("grid", kLeft, y.pixel(value), kRight, y.pixel(value));
    svg.text("", kLeft - 8, y.pixel(value) + 4, "end", tick_label(value));
  }
  for (double value = bits.lo; value <= bits.hi; value += 1.0) {
    svg.text("", x.pixel(value), kBottom + 18, "middle", tick_label(value));
  }
  svg.text("", (kLeft + kRight) / 2, kBottom + 36, "middle", "bits");
  for (const auto& one : series) draw_line(svg, one, x, y);
  return svg.str(false);
}

std::string dot_chart(const std::string& label, const std::vector<std::string>& rows,
                      const std::vector<Series>& series, const DotScale& scale) {
  constexpr double kLeft = 14;
  constexpr double kRight = 346;
  constexpr double kTop = 24;
  constexpr double kRow = 38;
  const double bottom = kTop + kRow * static_cast<double>(rows.size());
  Svg svg(360, bottom + 8, label);
  const ChartAxis x = ChartAxis::logarithmic(scale.floor, scale.ceiling, kLeft, kRight);
  for (const double value : x.ticks(6)) {
    svg.line("grid", x.pixel(value), kTop, x.pixel(value), bottom);
    svg.text("", x.pixel(value), kTop - 8, "middle", tick_label(value));
  }
  svg.line("goal", x.pixel(scale.goal), kTop, x.pixel(scale.goal), bottom);
  for (size_t i = 0; i < rows.size(); ++i) {
    const double top = kTop + kRow * static_cast<double>(i);
    if (i > 0) svg.line("grid", kLeft, top, kRight, top);
    svg.text("ink", kLeft, top + 15, "start", rows[i]);
  }
  for (const auto& one : series) {
    for (size_t i = 0; i < one.x.size(); ++i) {
      svg.marker(marker_class(one), one.style, x.pixel(std::max(one.x[i], scale.floor)),
                 kTop + kRow * one.y[i] + 27,
                 fmt::format("{}: {}", one.name, short_number(one.x[i])));
    }
  }
  return svg.str(false);
}

}  // namespace fewbit::solver
