#include "kernels/activation/cpu/segments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "kernels/activation/cpu/fit.hpp"

namespace fewbit::kernels {

namespace {

constexpr double kFar = 0x1p+60;

/// f(x) = slope x + offset far out on one side: a constant, or x itself.
struct Asymptote {
  bool exists;
  double slope;
  double offset;
  double begin;  ///< from here outwards f is its asymptote to half of what is allowed
};

Asymptote asymptote_of(Function& f, double side) {
  const double limit = f(side * std::numeric_limits<double>::infinity());
  Asymptote found{};
  if (std::isfinite(limit)) {
    found = {std::fabs(f(side * kFar) - limit) < 1e-9, 0.0, limit, 0.0};
  } else {
    found = {f(side * kFar) == side * kFar, 1.0, 0.0, 0.0};
  }
  constexpr double kStep = 1.0 / 64;
  double at = 32.0;
  for (; at > kStep && found.exists; at -= kStep) {
    const double x = side * at;
    const double error = std::fabs(f(x) - found.slope * x - found.offset);
    if (!(error < 0.5 * allowed(f(x), x))) break;
  }
  found.exists = found.exists && at < 32.0;
  found.begin = side * (at + kStep);
  return found;
}

/// Whether f(-x) = -f(x), at a few points.
bool is_odd(Function& f) {
  for (double x = 0.1; x < 16.0; x *= 1.7) {
    if (!(std::fabs(f(x) + f(-x)) <= 1e-14)) return false;
  }
  return true;
}

/// Coefficients, lowest first, of the polynomial through the points (u, y): Newton's divided
/// differences, then expanded.
std::vector<double> interpolate(const std::vector<double>& u, std::vector<double> y) {
  const size_t n = u.size();
  for (size_t order = 1; order < n; ++order) {
    for (size_t i = n - 1; i >= order; --i) y[i] = (y[i] - y[i - 1]) / (u[i] - u[i - order]);
  }
  std::vector<double> c(n, 0.0);
  for (size_t k = n; k-- > 0;) {
    for (size_t i = n - 1; i > 0; --i) c[i] = c[i - 1] - u[k] * c[i];
    c[0] = y[k] - u[k] * c[0];
  }
  return c;
}

std::vector<double> chebyshev_nodes(int count, double half_width) {
  std::vector<double> u;
  for (int k = 0; k < count; ++k) {
    u.push_back(half_width * std::cos(std::numbers::pi * (k + 0.5) / count));
  }
  return u;
}

class Fit {
 public:
  Fit(Function& f, SegmentKind kind, Asymptote left, Asymptote right)
      : f_(f), kind_(kind), left_(left), right_(right) {}

  /// The table of the narrowest cells that reach from asymptote to asymptote and of the smallest
  /// degree that is accurate enough; nothing if none is.
  std::optional<SegmentTable> table() {
    const bool is_folded = kind_ == SegmentKind::odd;
    const double begin = is_folded ? 0.0 : left_.begin;
    const double end = std::max(right_.begin, is_folded ? -left_.begin : 0.0);
    const int least = static_cast<int>((end - begin) / SegmentTable::kCells * 64);
    for (int i = std::max(least, 1); i <= 2 * 64; ++i) {
      const double width = i / 64.0;
      const int first = is_folded ? 0 : static_cast<int>(std::floor(begin / width - 0.5));
      if ((first + SegmentTable::kCells - 1.5) * width < end) continue;
      for (int degree = SegmentTable::kMinDegree; degree <= SegmentTable::kMaxDegree; ++degree) {
        if (const auto found = table(width, first, degree)) return found;
      }
      break;
    }
    return {};
  }

 private:
  std::optional<SegmentTable> table(double width, int first, int degree) {
    SegmentTable table;
    table.degree = degree;
    table.kind = kind_;
    table.first = first;
    table.width = static_cast<float>(width);
    const int last = first + SegmentTable::kCells - 1;
    for (int r = first; r <= last; ++r) set_cell(table, r, cell(width, r, degree));
    if (kind_ == SegmentKind::gate) set_cell(table, first, {0.0});
    set_cell(table, last, {kind_ == SegmentKind::gate ? 1.0 : right_.offset});
    for (int r = first; r <= last; ++r) {
      if (!is_accurate(table, r)) return {};
    }
    // Between cells the one beside may serve.
    const auto fitted = [&](float x) { return evaluate(table, x); };
    if (!holds_everywhere(f_, 0.9, fitted)) return {};
    return table;
  }

  std::vector<double> cell(double width, int r, int degree) {
    const double centre = r * width;
    if (kind_ != SegmentKind::odd || r != 0) {
      return interpolate(chebyshev_nodes(degree + 1, width / 2), centre);
    }
    // Through the origin, by f(x) / x at nodes that leave 0 out.
    std::vector<double> u = chebyshev_nodes(degree + degree % 2, width / 2);
    u.resize(static_cast<size_t>(degree));
    std::vector<double> y = f_(u);
    for (size_t i = 0; i < u.size(); ++i) y[i] /= u[i];
    std::vector<double> c = fewbit::kernels::interpolate(u, y);
    c.insert(c.begin(), 0.0);
    return c;
  }

  std::vector<double> interpolate(const std::vector<double>& u, double centre) {
    std::vector<double> x = u;
    for (double& value : x) {
      value += centre;
      if (std::fabs(value) < 1e-10) value = 1e-10;  // f(x) / x is taken right beside 0
    }
    std::vector<double> p = f_(x);
    for (size_t i = 0; i < p.size() && kind_ == SegmentKind::gate; ++i) p[i] /= x[i];
    return fewbit::kernels::interpolate(u, p);
  }

  /// In place of the cell's coefficients.
  static void set_cell(SegmentTable& table, int r, const std::vector<double>& c) {
    for (size_t k = 0; k <= SegmentTable::kMaxDegree; ++k) {
      table.coefficient[k][r & (SegmentTable::kCells - 1)] =
          k < c.size() ? static_cast<float>(c[k]) : 0.0f;
    }
  }

  /// What the kernel computes.
  static float evaluate(const SegmentTable& table, float x) {
    const float above = table.kind == SegmentKind::gate ? std::max(table.low(), x) : std::fabs(x);
    const float at = std::min(above, table.high());
    return evaluate(table, static_cast<int>(std::nearbyint(at / table.width)), x);
  }

  /// The same where the polynomials of cell r serve.
  static float evaluate(const SegmentTable& table, int r, float x) {
    const int index = r & (SegmentTable::kCells - 1);
    const bool is_gate = table.kind == SegmentKind::gate;
    const float above = is_gate ? std::max(table.low(), x) : std::fabs(x);
    const float at = std::min(above, table.high());
    const float u = std::fma(static_cast<float>(-r), table.width, at);
    float p = table.coefficient[table.degree][index];
    for (int k = table.degree - 1; k >= 0; --k) p = std::fma(p, u, table.coefficient[k][index]);
    return is_gate ? p * above : std::copysign(p, x);
  }

  bool is_accurate(const SegmentTable& table, int r) {
    constexpr int kPoints = 500;
    const double width = static_cast<double>(table.width);
    std::vector<double> x;
    for (int i = 0; i <= kPoints; ++i) {
      const double at = (r - 0.5 + static_cast<double>(i) / kPoints) * width;
      if (at >= 0.0 || table.kind == SegmentKind::gate) {
        x.push_back(static_cast<double>(static_cast<float>(at)));
      }
    }
    const std::vector<double> exact = f_(x);
    for (size_t i = 0; i < x.size(); ++i) {
      const float y = evaluate(table, r, static_cast<float>(x[i]));
      // The rest is left for the points between.
      if (!(std::fabs(static_cast<double>(y) - exact[i]) <= 0.8 * allowed(exact[i], x[i]))) {
        return false;
      }
    }
    return true;
  }

  Function& f_;
  SegmentKind kind_;
  Asymptote left_;
  Asymptote right_;
};

std::optional<SegmentTable> segments_of(Function f) {
  if (f(0.0) != 0.0) return {};
  const Asymptote left = asymptote_of(f, -1.0);
  const Asymptote right = asymptote_of(f, 1.0);
  if (!left.exists || !right.exists || left.slope != 0.0) return {};
  if (right.slope == 0.0) {
    if (!is_odd(f)) return {};
    return Fit(f, SegmentKind::odd, left, right).table();
  }
  if (left.offset != 0.0) return {};
  return Fit(f, SegmentKind::gate, left, right).table();
}

}  // namespace

std::optional<SegmentTable> fit_segments(const DefaultFunction& function) {
  return segments_of(Function(function));
}

}  // namespace fewbit::kernels
