#include "kernels/cpu/logistic.hpp"

#include <array>
#include <cmath>
#include <numbers>

#include "kernels/floating_point_mode.hpp"

namespace fewbit::kernels {

namespace {

using Block = std::array<double, kBlock>;

constexpr size_t kZero = kBlock - 1;
constexpr size_t kNearOne = 340;  // and -x after it

/// 1/1024 to about 30 in steps of 4 %, both signs, and 0 at the end.
Block points() {
  Block x{};
  double magnitude = 0x1p-10;
  for (size_t i = 0; i + 2 < x.size(); i += 2) {
    x[i] = magnitude;
    x[i + 1] = -magnitude;
    magnitude *= 1.0413;
  }
  return x;
}

/// Whether y[i] is f(x[i]) to so much of it, but at 0.
template <class F>
bool is_like(const Block& x, const Block& y, double tolerance, const F& f) {
  for (size_t i = 0; i + 2 < x.size(); ++i) {
    const double expected = f(x[i]);
    if (!(std::fabs(y[i] - expected) <= tolerance * std::fabs(expected))) return false;
  }
  return true;
}

double softplus(double x) {
  return std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
}

[[gnu::noinline]] Logistic logistic_of(ValueKernel<double>* value, const float* parameters) {
  const Block x = points();
  Block y;
  value(x.data(), y.data(), parameters);
  // Torch's softplus is x from 20 on.
  constexpr double kCut = 1e-9;
  constexpr auto kUnit = static_cast<float>(std::numbers::log2e);
  if (is_like(x, y, kCut, softplus)) return {LogisticKind::softplus, kUnit};
  if (is_like(x, y, kCut, [](double at) { return -softplus(-at); })) {
    return {LogisticKind::logsigmoid, kUnit};
  }
  const bool is_gate = y[kZero] == 0.0;
  const double share = y[kNearOne] / y[kNearOne + 1];  // s(a x) / s(-a x) = e^(a x)
  const double a = std::log(is_gate ? -share : share) / x[kNearOne];
  if (!(a > 1e-2 && a < 1e2)) return {};
  const auto f = [&](double at) { return (is_gate ? at : 1.0) / (1.0 + std::exp(-a * at)); };
  if (!is_like(x, y, 1e-11, f)) return {};
  return {is_gate ? LogisticKind::gate : LogisticKind::sigmoid,
          static_cast<float>(a * std::numbers::log2e)};
}

}  // namespace

Logistic fit_logistic(ValueKernel<double>* value, const float* parameters) {
  const DefaultFloatingPoint arithmetic;
  return logistic_of(value, parameters);
}

}  // namespace fewbit::kernels
