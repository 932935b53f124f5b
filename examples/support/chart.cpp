#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "examples/support/page.hpp"

namespace fewbit::examples {

namespace {

constexpr double kWidth = 760, kHeight = 380, kLeft = 70, kRight = 190, kTop = 30, kBottom = 50;
constexpr const char* kColours[] = {"#222222", "#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                    "#e69f00", "#56b4e9", "#8c564b", "#999999"};
constexpr size_t kColourCount = std::size(kColours);

// One axis: where a value lies on the picture, and round values to name.
class Axis {
 public:
  Axis(bool logarithmic, double from, double to) : log_(logarithmic), from_(from), to_(to) {}

  void take(double value) {
    low_ = std::min(low_, scaled(value));
    high_ = std::max(high_, scaled(value));
  }
  double place(double value) const {
    const double span = high_ > low_ ? high_ - low_ : 1.0;
    return from_ + (to_ - from_) * (scaled(value) - low_) / span;
  }
  std::vector<double> ticks() const {
    std::vector<double> result;
    if (log_) {
      constexpr size_t kFew = 5;
      add_decades({1.0, 2.0, 5.0}, result);
      if (result.size() >= kFew) return result;
      result.clear();
      add_decades({1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0}, result);
      return result;
    }
    const double span = high_ > low_ ? high_ - low_ : 1.0;
    const double decade = std::pow(10.0, std::floor(std::log10(span / 4)));
    const double step = decade * (span / 4 / decade >= 5 ? 5 : span / 4 / decade >= 2 ? 2 : 1);
    for (double i = std::ceil(low_ / step); i * step <= high_; ++i)
      add(std::round(i) * step, result);
    return result;
  }

 private:
  double scaled(double value) const { return log_ ? std::log10(value) : value; }
  void add_decades(std::initializer_list<double> digits, std::vector<double>& result) const {
    for (double decade = std::floor(low_); decade <= high_; ++decade) {
      for (const double digit : digits) add(std::pow(10.0, decade) * digit, result);
    }
  }
  void add(double value, std::vector<double>& result) const {
    if (scaled(value) >= low_ && scaled(value) <= high_) result.push_back(value);
  }

  bool log_;
  double from_, to_;
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

// As people write it: 1000, 0.05, and no zero below zero.
std::string tick_text(double value) {
  std::ostringstream text;
  text.precision(6);
  text << value + 0.0;
  return text.str();
}

void draw_axes(const Chart& chart, const Axis& x, const Axis& y, std::ostream& out) {
  for (const double value : x.ticks()) {
    out << "<line x1=\"" << x.place(value) << "\" x2=\"" << x.place(value) << "\" y1=\"" << kTop
        << "\" y2=\"" << kHeight - kBottom << "\" stroke=\"#eee\"/><text x=\"" << x.place(value)
        << "\" y=\"" << kHeight - kBottom + 16 << "\" text-anchor=\"middle\">" << tick_text(value)
        << "</text>\n";
  }
  for (const double value : y.ticks()) {
    out << "<line x1=\"" << kLeft << "\" x2=\"" << kWidth - kRight << "\" y1=\"" << y.place(value)
        << "\" y2=\"" << y.place(value) << "\" stroke=\"#eee\"/><text x=\"" << kLeft - 6
        << "\" y=\"" << y.place(value) + 4 << "\" text-anchor=\"end\">" << tick_text(value)
        << "</text>\n";
  }
  out << "<text x=\"" << (kLeft + kWidth - kRight) / 2 << "\" y=\"" << kHeight - 12
      << "\" text-anchor=\"middle\">" << chart.x_name << "</text>\n<text transform=\"translate(16,"
      << (kTop + kHeight - kBottom) / 2 << ") rotate(-90)\" text-anchor=\"middle\">" << chart.y_name
      << "</text>\n<text x=\"" << kLeft << "\" y=\"18\" font-weight=\"bold\">" << chart.title
      << "</text>\n";
}

void draw_line(const Line& line, size_t index, const Axis& x, const Axis& y, std::ostream& out) {
  const char* colour = kColours[index % kColourCount];
  if (line.joined) {
    out << "<polyline fill=\"none\" stroke=\"" << colour << "\" stroke-width=\"1.5\" points=\"";
    for (const auto& [px, py] : line.points) out << x.place(px) << ',' << y.place(py) << ' ';
    out << "\"/>\n";
  } else {
    for (const auto& [px, py] : line.points) {
      out << "<circle r=\"4\" fill=\"" << colour << "\" cx=\"" << x.place(px) << "\" cy=\""
          << y.place(py) << "\"/>\n";
    }
  }
  const double height = kTop + 10 + 18 * static_cast<double>(index);
  out << "<rect x=\"" << kWidth - kRight + 14 << "\" y=\"" << height - 9
      << "\" width=\"12\" height=\"12\" fill=\"" << colour << "\"/><text x=\""
      << kWidth - kRight + 32 << "\" y=\"" << height + 2 << "\">" << line.name << "</text>\n";
}

}  // namespace

std::string svg(const Chart& chart) {
  Axis x(chart.logarithmic, kLeft, kWidth - kRight);
  Axis y(chart.logarithmic, kHeight - kBottom, kTop);
  for (const Line& line : chart.lines) {
    for (const auto& [px, py] : line.points) {
      x.take(px);
      y.take(py);
    }
  }
  std::ostringstream out;
  out.precision(5);
  out << "<svg viewBox=\"0 0 " << kWidth << ' ' << kHeight << "\" width=\"" << kWidth
      << "\" height=\"" << kHeight
      << "\" font-size=\"12\" font-family=\"sans-serif\" role=\"img\">\n";
  draw_axes(chart, x, y, out);
  for (size_t i = 0; i < chart.lines.size(); ++i) draw_line(chart.lines[i], i, x, y, out);
  out << "</svg>\n";
  return out.str();
}

}  // namespace fewbit::examples
