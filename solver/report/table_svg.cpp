#include "report/table_svg.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "report/axis.hpp"
#include "report/curve.hpp"
#include "report/names.hpp"
#include "report/svg.hpp"

namespace fewbit::solver {
inline namespace reporting {

namespace {

struct Frame {
  double left;
  double top;
  double right;
  double bottom;
};

/// More level labels than this would not be readable.
constexpr size_t kMostLabels = 16;
constexpr double kLabelHeight = 13.0;
constexpr double kLabelWidth = 98.0;

class Picture {
 public:
  Picture(Svg& svg, const Table& table, const Frame& frame)
      : svg_(svg),
        table_(table),
        frame_(frame),
        curve_(sample_curve(table, 400)),
        x_(Axis::linear(curve_.lo, curve_.hi, frame.left, frame.right)),
        y_(vertical(curve_, frame)) {}

  void draw_axes(int x_ticks, int y_ticks) {
    for (const double value : y_.ticks(y_ticks)) {
      const double y = y_.pixel(value);
      svg_.line(value == 0.0 ? "axis" : "grid", frame_.left, y, frame_.right, y);
      svg_.text("", frame_.left - 8, y + 4, "end", tick_label(value));
    }
    svg_.line("axis", frame_.left, frame_.bottom, frame_.right, frame_.bottom);
    for (const double value : x_.ticks(x_ticks)) {
      const double x = x_.pixel(value);
      svg_.line("axis", x, frame_.bottom, x, frame_.bottom + 5);
      svg_.text("", x, frame_.bottom + 19, "middle", tick_label(value));
    }
  }

  void draw_table() {
    const auto& steps = curve_.steps;
    for (size_t i = 1; i < steps.size() && steps.size() <= 64; ++i) {
      const double x = x_.pixel(steps[i].lo);
      svg_.line("cut", x, frame_.top, x, frame_.bottom);
    }
    draw_curve();
    for (size_t i = 0; i < steps.size(); ++i) {
      const double y = y_.pixel(steps[i].level);
      svg_.line("step", x_.pixel(steps[i].lo), y, x_.pixel(steps[i].hi), y);
      if (i == 0) continue;
      const double x = x_.pixel(steps[i].lo);
      svg_.line("rise", x, y_.pixel(steps[i - 1].level), x, y);
    }
    if (!table_.codes.empty()) return;
    for (const double level : table_.levels) {
      svg_.line("level", frame_.left, y_.pixel(level), frame_.right, y_.pixel(level));
    }
  }

  /// The stored bits of every level beside the plot, pushed apart where levels are close.
  void draw_codes() {
    const size_t count = table_.levels.size();
    if (count > kMostLabels) return;
    std::vector<double> places;
    for (const double level : table_.levels) places.push_back(y_.pixel(level));
    std::vector<double> labels = places;
    for (size_t i = 1; i < count; ++i) {
      labels[i] = std::min(labels[i], labels[i - 1] - kLabelHeight);
    }
    // What was pushed above the frame comes down again, lowest label first to make room.
    labels.back() = std::max(labels.back(), frame_.top);
    for (size_t i = count - 1; i-- > 0;) {
      labels[i] = std::max(labels[i], labels[i + 1] + kLabelHeight);
    }
    for (size_t i = 0; i < count; ++i) {
      svg_.polyline("lead", {{frame_.right + 2, places[i]}, {frame_.right + 14, labels[i]}});
      svg_.text("code", frame_.right + 18, labels[i] + 4, "start",
                fmt::format("{:0{}b}", i, table_.bits()));
      svg_.text("code", frame_.right + kLabelWidth, labels[i] + 4, "end",
                fmt::format("{:.4f}", table_.levels[i]));
    }
  }

 private:
  static Axis vertical(const Curve& curve, const Frame& frame) {
    const double room = 0.06 * (curve.y_max - curve.y_min);
    return Axis::linear(curve.y_min - room, curve.y_max + room, frame.bottom, frame.top);
  }

  void draw_curve() {
    for (const auto& run : curve_.pieces) {
      std::vector<Point> points;
      for (const auto& point : run) points.push_back({x_.pixel(point.x), y_.pixel(point.y)});
      svg_.polyline("curve", points);
    }
  }

  Svg& svg_;
  const Table& table_;
  Frame frame_;
  Curve curve_;
  Axis x_;
  Axis y_;
};

std::string label_of(const Table& table) {
  return fmt::format("{}, {}: derivative and step function ({})",
                     function_name(table.problem.function), size_name(table),
                     variant_name(table.problem));
}

std::string proof_of(const Table& table) {
  const double error = table.error;
  if (table.problem.objective.smoothed) {
    return fmt::format("smoothed bias {}, squared error {}", short_number(table.smoothed_bias, 3),
                       short_number(error));
  }
  if (error == 0.0) return "squared error 0: exact";
  return fmt::format("{} {}, {}",
                     table.problem.form == Form::unbiased ? "expected error" : "squared error",
                     short_number(error), gap_name(table));
}

void draw_legend(Svg& svg, const Table& table, double x, double y) {
  svg.line("curve", x, y - 4, x + 26, y - 4);
  svg.text("", x + 33, y, "start", "f′(x), exact");
  const bool unbiased = table.codes.empty();
  svg.line(unbiased ? "level" : "step", x + 128, y - 4, x + 154, y - 4);
  svg.text("", x + 161, y, "start",
           fmt::format("{}, {}", unbiased ? "levels" : "table", size_name(table)));
}

}  // namespace

std::string table_picture(const Table& table) {
  constexpr double kWidth = 760;
  constexpr double kHeight = 440;
  Svg svg(kWidth, kHeight, label_of(table));
  svg.text("title", 20, 32, "start",
           fmt::format("{}, {}", function_name(table.problem.function), size_name(table)));
  svg.text("ink", 20, 54, "start", proof_of(table));
  svg.text("", 20, 73, "start",
           fmt::format("{} form, weight {}", to_string(table.problem.form),
                       weight_name(table.problem.weight)) +
               " on " + domain_name(table.problem.domain));
  draw_legend(svg, table, 492, 32);
  const bool labels = table.levels.size() <= kMostLabels;
  Picture picture(svg, table, {58, 92, labels ? 646.0 : 740.0, 392});
  picture.draw_axes(10, 7);
  picture.draw_table();
  picture.draw_codes();
  svg.text("", (58 + 646) / 2.0, 431, "middle", "x");
  return svg.str(true);
}

std::string table_thumbnail(const Table& table) {
  Svg svg(360, 230, label_of(table));
  Picture picture(svg, table, {46, 10, 350, 198});
  picture.draw_axes(6, 5);
  picture.draw_table();
  return svg.str(false);
}

}  // namespace reporting
}  // namespace fewbit::solver
