#include "kernels/activation/cpu/logistic.hpp"

#include <cmath>
#include <numbers>
#include <vector>

#include "generated/math.hpp"
#include "kernels/activation/cpu/fit.hpp"

namespace fewbit::kernels {

namespace {

/// Whether f(x) is expected(x) to so much of it, everywhere. Far below the smallest float a tail
/// may end.
template <class Expected>
bool is_like(Function& f, double tolerance, const Expected& expected) {
  const auto is_near = [&](double x, double y) {
    const double wanted = expected(x);
    return y == wanted || std::fabs(y - wanted) <= tolerance * std::fabs(wanted) + 0x1p-200;
  };
  if (!is_near(1.0, f(1.0)) || !is_near(-2.0, f(-2.0))) return false;
  const std::vector<float> points = telling_points(f.kinks());
  for (auto from = points.begin(); from != points.end();) {
    const auto to = from + std::min<std::ptrdiff_t>(kBlock, points.end() - from);
    for (const double y : f(std::vector<double>(from, to))) {
      if (!is_near(static_cast<double>(*from++), y)) return false;
    }
  }
  return true;
}

using generated::math::wide::sigmoid, generated::math::wide::softplus;

std::optional<Logistic> logistic_of(Function f) {
  // Torch's softplus is x from 20 on.
  constexpr double kCut = 1e-9;
  constexpr auto kUnit = static_cast<float>(std::numbers::log2e);
  if (is_like(f, kCut, softplus)) return Logistic{LogisticKind::softplus, kUnit};
  if (is_like(f, kCut, [](double x) { return -softplus(-x); })) {
    return Logistic{LogisticKind::logsigmoid, kUnit};
  }
  const bool is_gate = f(0.0) == 0.0;
  const double share = f(1.0) / f(-1.0);  // s(a) / s(-a) = e^a
  const double a = std::log(is_gate ? -share : share);
  if (!(a > 1e-2 && a < 1e2)) return {};
  const auto expected = [&](double x) {
    const double s = sigmoid(a * x);
    return is_gate && s != 0.0 ? x * s : s;
  };
  if (!is_like(f, 1e-11, expected)) return {};
  return Logistic{is_gate ? LogisticKind::gate : LogisticKind::sigmoid,
                  static_cast<float>(a * std::numbers::log2e)};
}

}  // namespace

std::optional<Logistic> fit_logistic(const DefaultFunction& function) {
  return logistic_of(Function(function));
}

}  // namespace fewbit::kernels
