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

/// The height of the density beside the plot's.
constexpr double kDensityShare = 0.24;
constexpr double kBetweenTicks = 12.0;

class Picture {
 public:
  Picture(Svg& svg, const Table& table, const Frame& frame, int x_ticks, int y_ticks)
      : svg_(svg),
        table_(table),
        frame_(frame),
        curve_(sample_curve(table, 400)),
        y_(vertical(curve_, frame)),
        y_ticks_(y_.ticks(y_ticks)),
        x_(horizontal()),
        x_ticks_(x_.ticks(x_ticks)) {
    while (x_ticks > 1 && crowded()) x_ticks_ = x_.ticks(--x_ticks);
  }

  void draw_axes() {
    draw_density();
    for (const double value : y_ticks_) {
      const double y = y_.pixel(value);
      svg_.line(value == 0.0 ? "axis" : "grid", frame_.left, y, frame_.right, y);
      svg_.text("", frame_.left - 8, y + 4, "end", tick_label(value));
    }
    svg_.line("axis", frame_.left, frame_.bottom, frame_.right, frame_.bottom);
    for (const double value : x_ticks_) {
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
                level_label(table_.levels[i]));
    }
  }

 private:
  static ChartAxis vertical(const Curve& curve, const Frame& frame) {
    const double room = 0.06 * (curve.y_max - curve.y_min);
    return ChartAxis::linear(curve.y_min - room, curve.y_max + room, frame.bottom, frame.top);
  }

  /// Beside the labels of the other axis, however long they are.
  ChartAxis horizontal() {
    for (const double value : y_ticks_) {
      frame_.left = std::max(frame_.left, text_width("", tick_label(value)) + kBetweenTicks);
    }
    return ChartAxis::linear(curve_.lo, curve_.hi, frame_.left, frame_.right);
  }

  bool crowded() const {
    for (size_t i = 1; i < x_ticks_.size(); ++i) {
      const double room = x_.pixel(x_ticks_[i]) - x_.pixel(x_ticks_[i - 1]) - kBetweenTicks;
      const double left = text_width("", tick_label(x_ticks_[i - 1]));
      if (left + text_width("", tick_label(x_ticks_[i])) > 2 * room) return true;
    }
    return false;
  }

  /// Aligned at the decimal point where that shows enough digits.
  std::string level_label(double level) const {
    const double most = std::max(std::abs(table_.levels.front()), table_.levels.back());
    return most < 0.1 || most >= 1000.0 ? fmt::format("{:.4g}", level)
                                        : fmt::format("{:.4f}", level);
  }

  void draw_density() {
    if (curve_.density.empty()) return;
    const double height = kDensityShare * (frame_.bottom - frame_.top);
    std::vector<Point> area{{frame_.left, frame_.bottom}};
    for (const auto& point : curve_.density) {
      area.push_back({x_.pixel(point.x), frame_.bottom - height * point.y});
    }
    area.push_back({frame_.right, frame_.bottom});
    svg_.polyline("density", area);
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
  ChartAxis y_;
  std::vector<double> y_ticks_;
  ChartAxis x_;
  std::vector<double> x_ticks_;
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

void draw_legend(Svg& svg, const Table& table, double y) {
  svg.line("curve", 20, y - 4, 46, y - 4);
  svg.text("", 53, y, "start", "f′(x), exact");
  const bool unbiased = table.codes.empty();
  svg.line(unbiased ? "level" : "step", 148, y - 4, 174, y - 4);
  const std::string steps = fmt::format("{}, {}", unbiased ? "levels" : "table", size_name(table));
  svg.text("", 181, y, "start", steps);
  const double x = 205 + text_width("", steps);
  svg.rectangle("density", x, y - 10, 26, 12);
  svg.text("", x + 33, y, "start", "density of x: " + weight_name(table.problem.weight));
}

}  // namespace

std::string table_picture(const Table& table) {
  constexpr double kWidth = 760;
  constexpr double kHeight = 460;
  Svg svg(kWidth, kHeight, label_of(table));
  svg.text("title", 20, 32, "start",
           fmt::format("{}, {}", function_name(table.problem.function), size_name(table)));
  svg.text("ink", 20, 54, "start", proof_of(table));
  svg.text("", 20, 73, "start",
           fmt::format("{} form, weight {}", to_string(table.problem.form),
                       weight_name(table.problem.weight)) +
               " on " + domain_name(table.problem.domain));
  draw_legend(svg, table, 97);
  const bool labels = table.levels.size() <= kMostLabels;
  const Frame frame{58, 114, labels ? 646.0 : 740.0, 412};
  Picture picture(svg, table, frame, 10, 7);
  picture.draw_axes();
  picture.draw_table();
  picture.draw_codes();
  svg.text("", (frame.left + frame.right) / 2, 451, "middle", "x");
  return svg.str(true);
}

std::string table_thumbnail(const Table& table) {
  Svg svg(360, 230, label_of(table));
  Picture picture(svg, table, {46, 10, 350, 198}, 6, 5);
  picture.draw_axes();
  picture.draw_table();
  return svg.str(false);
}

}  // namespace fewbit::solver
