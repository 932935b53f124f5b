#include "kernels/cpu/lines.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "kernels/cpu/fit.hpp"

namespace fewbit::kernels {

namespace {

constexpr float kFar = 64.0f;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

bool is_flat_beyond(const float* c, int power) {
  return (power > 1 || c[1] == 0.0f) && c[2] == 0.0f;
}

/// Floats in order as integers, and back.
int64_t place_of(float x) {
  const auto bits = std::bit_cast<int32_t>(x);
  return bits < 0 ? -int64_t{bits & 0x7FFFFFFF} : int64_t{bits};
}

float float_at(int64_t place) {
  const auto magnitude = static_cast<int32_t>(place < 0 ? -place : place);
  return std::bit_cast<float>(magnitude) * (place < 0 ? -1.0f : 1.0f);
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

/// How far the piece that holds at `begin` reaches towards -begin.
float end_of_piece(Function& f, const float* c, float begin) {
  const auto holds = [&](float at) {
    const auto x = static_cast<double>(at);
    return f(x) == evaluate(c, x);
  };
  const float step = begin / -0x1p+12f;
  float at = begin;
  while (at != -begin && holds(at)) at += step;
  int64_t in = place_of(at - step);
  int64_t out = place_of(at);
  while (std::abs(out - in) > 1) {
    const int64_t middle = in + (out - in) / 2;
    (holds(float_at(middle)) ? in : out) = middle;
  }
  return float_at(in);
}

/// What the kernel computes.
float evaluate(const Lines& lines, float x) {
  const float* const c = lines.c[x >= lines.right_begin ? Lines::kRight
                                 : x <= lines.left_end  ? Lines::kLeft
                                                        : Lines::kMiddle];
  const float slope = std::fma(c[2], std::clamp(x, lines.low[2], lines.high[2]), c[1]);
  return std::fma(slope, std::clamp(x, lines.low[1], lines.high[1]), c[0]);
}

bool is_accurate(Function& f, const Lines& lines) {
  for (float x = -kFar; x <= kFar; x += 0x1.04p-4f) {
    for (const float at : {x, x / kFar}) {
      const double exact = f(static_cast<double>(at));
      const double error = std::fabs(static_cast<double>(evaluate(lines, at)) - exact);
      if (!(error <= 0.9 * allowed(exact, static_cast<double>(at)))) return false;
    }
  }
  return true;
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

}  // namespace

Lines fit_lines(ValueKernel<double>* value, const float* parameters) {
  Function f(value, parameters);
  Lines lines;
  fit_piece(f, {-64.0, -48.0, -32.0}, lines.c[Lines::kLeft]);
  fit_piece(f, {64.0, 48.0, 32.0}, lines.c[Lines::kRight]);
  lines.left_end = end_of_piece(f, lines.c[Lines::kLeft], -kFar);
  lines.right_begin = end_of_piece(f, lines.c[Lines::kRight], kFar);
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
  if (!is_accurate(f, lines)) return {};
  const bool is_curved =
      std::any_of(lines.c, lines.c + 3, [](const float* c) { return c[2] != 0; });
  lines.degree = is_curved ? 2 : 1;
  lines.pieces = pieces_of(lines);
  return lines;
}

}  // namespace fewbit::kernels
