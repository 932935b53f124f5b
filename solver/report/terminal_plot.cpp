#include "report/terminal_plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "report/names.hpp"

namespace fewbit::solver {

namespace {

constexpr int kRows = 15;
constexpr int kHigh = kRows * 4;  // braille: 2 x 4 dots in a character
constexpr int kAxisWidth = 8;
constexpr int kLeast = 40;

constexpr const char* kCurveColour = "\033[36m";
constexpr const char* kStepColour = "\033[33m";
constexpr const char* kPlain = "\033[0m";

class Canvas {
 public:
  explicit Canvas(int columns)
      : columns_(columns), cells_(static_cast<size_t>(columns) * static_cast<size_t>(kRows)) {}

  void dot(int x, int y, bool step) {
    if (x < 0 || x >= 2 * columns_ || y < 0 || y >= kHigh) return;
    static constexpr std::array<std::array<uint8_t, 2>, 4> kBits{
        {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
    auto& cell = cells_[static_cast<size_t>(y / 4 * columns_ + x / 2)];
    cell.dots |= kBits[static_cast<size_t>(y % 4)][static_cast<size_t>(x % 2)];
    cell.step = cell.step || step;
  }

  std::string row(int y, bool colour) const {
    std::string text;
    const char* ink = kPlain;
    for (int x = 0; x < columns_; ++x) {
      const Cell& cell = cells_[static_cast<size_t>(y * columns_ + x)];
      const char* wanted = cell.dots == 0 ? ink : cell.step ? kStepColour : kCurveColour;
      if (colour && wanted != ink) text += wanted;
      ink = wanted;
      text += glyph(cell.dots);
    }
    return colour ? text + kPlain : text;
  }

 private:
  struct Cell {
    uint8_t dots = 0;
    bool step = false;
  };

  /// U+2800 plus the dots, in UTF-8; a blank cell is a space so that it can be trimmed.
  static std::string glyph(uint8_t dots) {
    if (dots == 0) return " ";
    return {static_cast<char>(0xE2), static_cast<char>(0xA0 | (dots >> 6)),
            static_cast<char>(0x80 | (dots & 0x3F))};
  }

  int columns_;
  std::vector<Cell> cells_;
};

class Plot {
 public:
  Plot(const Curve& curve, int columns) : curve_(curve), wide_(2 * columns) {
    const double room = 0.04 * std::max(curve.y_max - curve.y_min, 1e-300);
    bottom_ = curve.y_min - room;
    top_ = curve.y_max + room;
  }

  int column(double x) const {
    return static_cast<int>(std::lround((x - curve_.lo) / (curve_.hi - curve_.lo) * (wide_ - 1)));
  }
  int line(double y) const {
    return static_cast<int>(std::lround((top_ - y) / (top_ - bottom_) * (kHigh - 1)));
  }

  void draw_steps(Canvas& canvas) const {
    for (const auto& step : curve_.steps) {
      for (int x = column(step.lo); x <= column(step.hi); ++x) {
        canvas.dot(x, line(step.level), true);
        canvas.dot(x, line(step.level) + 1, true);
      }
    }
  }

  void draw_curve(Canvas& canvas) const {
    for (const auto& run : curve_.pieces) {
      for (size_t i = 1; i < run.size(); ++i) {
        const int from = line(run[i - 1].y);
        const int to = line(run[i].y);
        const int x = column(run[i].x);
        for (int y = std::min(from, to); y <= std::max(from, to); ++y) canvas.dot(x, y, false);
      }
    }
  }

  std::string label(int row) const {
    const double y = row == 0 ? curve_.y_max : row == kRows - 1 ? curve_.y_min : NAN;
    if (std::isnan(y)) return std::string(kAxisWidth, ' ');
    return fmt::format("{:>{}}", short_number(y, 3), kAxisWidth);
  }

 private:
  const Curve& curve_;
  int wide_;
  double bottom_;
  double top_;
};

std::string trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

std::string terminal_plot(const Curve& curve, bool colour, int width) {
  const int columns = std::max(width, kLeast) - kAxisWidth - 2;
  const Plot plot(curve, columns);
  Canvas canvas(columns);
  plot.draw_curve(canvas);
  plot.draw_steps(canvas);
  std::string text;
  for (int row = 0; row < kRows; ++row) {
    text += trimmed(plot.label(row) + " ┤" + canvas.row(row, colour));
  }
  std::string axis = std::string(kAxisWidth, ' ') + " └";
  for (int i = 0; i < columns; ++i) {
    axis += i == 0 || i == columns / 2 || i == columns - 1 ? "┴" : "─";
  }
  text += axis + "\n";
  const std::string left = short_number(curve.lo, 3);
  const std::string middle = short_number((curve.lo + curve.hi) / 2, 3);
  const std::string right = short_number(curve.hi, 3);
  const int side = columns / 3;
  text += trimmed(std::string(kAxisWidth + 2, ' ') + fmt::format("{:<{}}{:^{}}{:>{}}", left, side,
                                                                 middle, columns - 2 * side, right,
                                                                 side));
  return text;
}

}  // namespace fewbit::solver
