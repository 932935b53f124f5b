#include "kernels/cpu/logistic.hpp"

#include <array>
#include <cmath>
#include <numbers>

namespace fewbit::kernels {

namespace {

/// 1/1024 to about 30 in steps of 4 %, both signs, and 0 at the end.
std::array<double, kBlock> points() {
  std::array<double, kBlock> x{};
  double magnitude = 0x1p-10;
  for (size_t i = 0; i + 2 < x.size(); i += 2) {
    x[i] = magnitude;
    x[i + 1] = -magnitude;
    magnitude *= 1.0413;
  }
  return x;
}

}  // namespace

Logistic fit_logistic(ValueKernel<double>* value, const float* parameters) {
  std::array<double, kBlock> x = points();
  std::array<double, kBlock> y;
  value(x.data(), y.data(), parameters);
  const bool is_gate = y[kBlock - 1] == 0.0;
  const auto share = [&](size_t i) { return is_gate ? y[i] / x[i] : y[i]; };
  constexpr size_t kNearOne = 340;
  const double a = std::log(share(kNearOne) / share(kNearOne + 1)) / x[kNearOne];
  if (!(a > 1e-2 && a < 1e2)) return {};
  for (size_t i = 0; i + 2 < x.size(); ++i) {
    const double expected = 1.0 / (1.0 + std::exp(-a * x[i]));
    if (!(std::fabs(share(i) - expected) < 1e-11 * expected)) return {};
  }
  return {static_cast<float>(a * std::numbers::log2e), is_gate};
}

}  // namespace fewbit::kernels
