#include "kernels/activation/cpu/lines.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/activation/cpu/fit.hpp"
#include "kernels/half.hpp"

namespace fewbit::kernels {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

bool is_flat_beyond(const float* c, int power) {
  return (power > 1 || c[1] == 0.0f) && c[2] == 0.0f;
}

double evaluate(const float* c, double x) {
  return (static_cast<double>(c[2]) * x + static_cast<double>(c[1])) * x +
         static_cast<double>(c[0]);
}

/// The parabola through f at three points.
void fit_piece(Function& f, const std::array<double, 3>& x, float* c) {
  const double y[3] = {f(x[0]), f(x[1]), f(x[2])};
  const double first = (y[1] - y[0]) / (x[1] - x[0]);
  const double second = (y[2] - y[1]) / (x[2] - x[1]);
  const double curve = (second - first) / (x[2] - x[0]);
  const double slope = first - curve * (x[0] + x[1]);
  const double start = y[0] - (curve * x[0] + slope) * x[0];
  const auto cleaned = [](double value) {
    return std::fabs(value) < 1e-12 ? 0.0f : static_cast<float>(value);
  };
  c[0] = cleaned(start);
  c[1] = cleaned(slope);
  c[2] = cleaned(curve);
  // So that -0 stays what it is.
  if (c[0] == 0.0f && c[1] != 0.0f) c[0] = -0.0f;
}

/// How far the piece that holds at `begin` reaches towards -begin: by a search among all floats
/// that cuts what is left into a block of points each time.
float end_of_piece(Function& f, const float* c, float begin) {
  int64_t inside = place_of(begin);
  int64_t outside = place_of(-begin);
  while (std::abs(outside - inside) > 1) {
    const int64_t count = std::min(std::abs(outside - inside) - 1, kBlock);
    std::vector<double> x;
    for (int64_t k = 1; k <= count; ++k) {
      const int64_t place = inside + (outside - inside) * k / (count + 1);
      x.push_back(static_cast<double>(float_at(static_cast<int>(place))));
    }
    const std::vector<double> y = f(x);
    size_t held = 0;
    while (held < x.size() && y[held] == evaluate(c, x[held])) ++held;
    if (held < x.size()) outside = place_of(static_cast<float>(x[held]));
    if (held > 0) inside = place_of(static_cast<float>(x[held - 1]));
  }
  return float_at(static_cast<int>(inside));
}

/// From here on outwards f has no kink, nor on the way to a fourth of it.
float far_from_kinks(Function& f) {
  float far = 64.0f;
  for (const double kink : f.kinks()) {
    while (static_cast<double>(far) < 4.0 * std::fabs(kink)) far *= 2.0f;
  }
  return far;
}

/// Whether f is a parabola about nearly everywhere up to an eighth of `far`.
bool is_in_pieces(Function& f, double far) {
  std::vector<double> x;
  for (int i = 0; i < kBlock; ++i) x.push_back((i / (0.5 * kBlock) - 1.0) * (far / 8.0));
  const std::vector<double> y = f(x);
  int curved = 0;
  for (size_t i = 3; i < y.size(); ++i) {
    const double third = y[i] - 3.0 * y[i - 1] + 3.0 * y[i - 2] - y[i - 3];
    curved += !(std::fabs(third) < 1e-12 * std::max(1.0, 1e-2 * std::fabs(y[i])));
  }
  return curved <= 12;
}

/// What the kernel computes.
float evaluate(const Lines& lines, float x) {
  const float* const c = lines.c[x >= lines.right_begin ? Lines::kRight
                                 : x <= lines.left_end  ? Lines::kLeft
                                                        : Lines::kMiddle];
  const float slope = std::fma(c[2], std::clamp(x, lines.low[2], lines.high[2]), c[1]);
  return std::fma(slope, std::clamp(x, lines.low[1], lines.high[1]), c[0]);
}

/// Whether the outer piece is a constant that the middle one has at its end too.
bool is_clamped(const Lines& lines, Lines::Side side, float end) {
  const float* const c = lines.c[side];
  const float* const middle = lines.c[Lines::kMiddle];
  return is_flat_beyond(c, 1) &&
         std::fma(std::fma(middle[2], end, middle[1]), end, middle[0]) == c[0];
}

int pieces_of(const Lines& lines) {
  const bool has_right =
      !std::equal(lines.c[Lines::kRight], lines.c[Lines::kRight] + 3, lines.c[Lines::kMiddle]);
  if (is_clamped(lines, Lines::kLeft, lines.left_end) &&
      (!has_right || is_clamped(lines, Lines::kRight, lines.right_begin))) {
    return 1;
  }
  return has_right ? 3 : 2;
}

std::optional<Lines> lines_of(Function f) {
  const float begin_far = far_from_kinks(f);
  const auto far = static_cast<double>(begin_far);
  if (!is_in_pieces(f, far)) return {};
  Lines lines;
  fit_piece(f, {-far, -0.75 * far, -0.5 * far}, lines.c[Lines::kLeft]);
  fit_piece(f, {far, 0.75 * far, 0.5 * far}, lines.c[Lines::kRight]);
  lines.left_end = end_of_piece(f, lines.c[Lines::kLeft], -begin_far);
  lines.right_begin = end_of_piece(f, lines.c[Lines::kRight], begin_far);
  if (!(lines.left_end <= lines.right_begin)) return {};
  const auto begin = static_cast<double>(lines.left_end);
  const double width = static_cast<double>(lines.right_begin) - begin;
  if (width > 0x1p-10) {
    fit_piece(f, {begin + 0.25 * width, begin + 0.5 * width, begin + 0.75 * width},
              lines.c[Lines::kMiddle]);
  } else {
    std::copy_n(lines.c[Lines::kRight], 3, lines.c[Lines::kMiddle]);
  }
  for (int power = 1; power <= 2; ++power) {
    lines.low[power] = is_flat_beyond(lines.c[Lines::kLeft], power) ? lines.left_end : -kInfinity;
    lines.high[power] =
        is_flat_beyond(lines.c[Lines::kRight], power) ? lines.right_begin : kInfinity;
  }
  if (!holds_everywhere(f, 0.9, [&](float x) { return evaluate(lines, x); })) return {};
  const bool is_curved =
      std::any_of(lines.c, lines.c + 3, [](const float* c) { return c[2] != 0; });
  lines.degree = is_curved ? 2 : 1;
  lines.pieces = pieces_of(lines);
  return lines;
}

}  // namespace

std::optional<Lines> fit_lines(const DefaultFunction& function) {
  return lines_of(Function(function));
}

}  // namespace fewbit::kernels
