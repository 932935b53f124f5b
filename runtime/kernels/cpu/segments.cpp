#include "kernels/cpu/segments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace fewbit::kernels {

namespace {

constexpr int kFirst = -SegmentTable::kCells / 2;
constexpr int kLast = SegmentTable::kCells / 2 - 1;
constexpr double kFar = 0x1p+60;

class Function {
 public:
  Function(ValueKernel<double>* value, const float* parameters)
      : value_(value), parameters_(parameters), at_(kBlock), result_(kBlock) {}

  double operator()(double x) {
    at_[0] = x;
    value_(at_.data(), result_.data(), parameters_);
    return result_[0];
  }

  /// f of up to kBlock points.
  std::vector<double> operator()(const std::vector<double>& x) {
    std::copy(x.begin(), x.end(), at_.begin());
    value_(at_.data(), result_.data(), parameters_);
    return {result_.begin(), result_.begin() + static_cast<std::ptrdiff_t>(x.size())};
  }

 private:
  ValueKernel<double>* value_;
  const float* parameters_;
  std::vector<double> at_;
  std::vector<double> result_;
};

/// What activation.hpp allows.
double allowed(double exact, double x) {
  int exponent = 0;
  std::frexp(exact, &exponent);
  const double ulp = std::ldexp(1.0, std::max(exponent - 24, -149));
  return std::max(2.0 * ulp, 0x1p-24 * std::max(1.0, std::fabs(x)));
}

/// f(x) = slope x + offset far out on one side; slope 0 or 1.
struct Asymptote {
  bool exists;
  double slope;
  double offset;
};

Asymptote asymptote_of(Function& f, double side) {
  const double limit = f(side * std::numeric_limits<double>::infinity());
  if (std::isfinite(limit)) return {std::fabs(f(side * kFar) - limit) < 1e-9, 0.0, limit};
  const double near = f(side * 1e3) - side * 1e3;
  const double far = f(side * 1e6) - side * 1e6;
  return {limit == side * std::numeric_limits<double>::infinity() && std::fabs(near - far) < 1e-9,
          1.0, far};
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
  Fit(Function& f, Asymptote left, Asymptote right) : f_(f), left_(left), right_(right) {}

  bool has_room(double width) {
    const double lo = (kFirst + 0.5) * width;
    const double hi = (kLast - 0.5) * width;
    return std::fabs(f_(lo) - left_.slope * lo - left_.offset) < 0.5 * allowed(f_(lo), lo) &&
           std::fabs(f_(hi) - right_.slope * hi - right_.offset) < 0.5 * allowed(f_(hi), hi);
  }

  /// The table of this width and degree, or one of degree 0 if that is not accurate enough.
  SegmentTable table(double width, int degree) {
    SegmentTable table;
    table.degree = degree;
    table.width = static_cast<float>(width);
    const float infinity = std::numeric_limits<float>::infinity();
    table.low = left_.slope == 0.0 ? static_cast<float>(kFirst * width) : -infinity;
    table.high = right_.slope == 0.0 ? static_cast<float>(kLast * width) : infinity;
    for (int r = kFirst; r <= kLast; ++r) {
      set_cell(table, r, cell(width, r, degree));
      if (!is_accurate(table, r)) return {};
    }
    return table;
  }

 private:
  std::vector<double> cell(double width, int r, int degree) {
    const double centre = r * width;
    if (r == kFirst) return {left_.slope * centre + left_.offset, left_.slope};
    if (r == kLast) return {right_.slope * centre + right_.offset, right_.slope};
    if (r != 0) return interpolate_at(chebyshev_nodes(degree + 1, width / 2), centre);
    // Through the origin, by f(x) / x at nodes that leave 0 out.
    std::vector<double> u = chebyshev_nodes(degree + degree % 2, width / 2);
    u.resize(static_cast<size_t>(degree));
    std::vector<double> y = f_(u);
    for (size_t i = 0; i < u.size(); ++i) y[i] /= u[i];
    std::vector<double> c = interpolate(u, y);
    c.insert(c.begin(), 0.0);
    return c;
  }

  std::vector<double> interpolate_at(const std::vector<double>& u, double centre) {
    std::vector<double> x = u;
    for (double& value : x) value += centre;
    return interpolate(u, f_(x));
  }

  static void set_cell(SegmentTable& table, int r, const std::vector<double>& c) {
    const int index = r & (SegmentTable::kCells - 1);
    for (size_t k = 0; k < c.size(); ++k) {
      table.coefficient[k][index] = static_cast<float>(c[k]);
    }
  }

  bool is_accurate(const SegmentTable& table, int r) {
    constexpr int kPoints = 400;
    const double width = static_cast<double>(table.width);
    std::vector<double> x;
    for (int i = 0; i <= kPoints; ++i) {
      const double at = (r - 0.5 + static_cast<double>(i) / kPoints) * width;
      x.push_back(static_cast<double>(static_cast<float>(at)));
    }
    const std::vector<double> exact = f_(x);
    const int index = r & (SegmentTable::kCells - 1);
    for (size_t i = 0; i < x.size(); ++i) {
      const float at = std::clamp(static_cast<float>(x[i]), table.low, table.high);
      const float u = std::fma(static_cast<float>(-r), table.width, at);
      float y = table.coefficient[table.degree][index];
      for (int k = table.degree - 1; k >= 0; --k) y = std::fma(y, u, table.coefficient[k][index]);
      // A little is left for the points between.
      if (!(std::fabs(static_cast<double>(y) - exact[i]) <= 0.93 * allowed(exact[i], x[i]))) {
        return false;
      }
    }
    return true;
  }

  Function& f_;
  Asymptote left_;
  Asymptote right_;
};

}  // namespace

SegmentTable fit_segments(ValueKernel<double>* value, const float* parameters) {
  Function f(value, parameters);
  if (f(0.0) != 0.0) return {};
  const Asymptote left = asymptote_of(f, -1.0);
  const Asymptote right = asymptote_of(f, 1.0);
  if (!left.exists || !right.exists) return {};
  Fit fit(f, left, right);
  int sixteenths = 2;
  while (sixteenths <= 32 && !fit.has_room(sixteenths / 16.0)) ++sixteenths;
  if (sixteenths > 32) return {};
  for (int degree = SegmentTable::kMinDegree; degree <= SegmentTable::kMaxDegree; ++degree) {
    const SegmentTable table = fit.table(sixteenths / 16.0, degree);
    if (table.degree != 0) return table;
  }
  return {};
}

}  // namespace fewbit::kernels
