#include "kernels/activation/cpu/half_values.hpp"

#include <bit>
#include <cmath>
#include <set>

#include "kernels/floating_point_mode.hpp"
#include "kernels/half.hpp"

namespace fewbit::kernels {

namespace {

constexpr int kCount = 1 << 16;

/// Towards zero, and odd where that is not exact: rounding it again to fewer bits gives what
/// rounding x once would.
float rounded_to_odd(double x) {
  float nearest = static_cast<float>(x);
  if (!std::isfinite(x) || static_cast<double>(nearest) == x) return nearest;
  if (std::fabs(static_cast<double>(nearest)) > std::fabs(x)) {
    nearest = std::nextafter(nearest, 0.0f);
  }
  return std::bit_cast<float>(std::bit_cast<uint32_t>(nearest) | 1u);
}

/// Whether f' has no more values than a few lines would give it.
bool is_of_lines(ElementType type, ValueKernel<float>* slope_of, const float* parameters) {
  constexpr size_t kLines = 4;
  std::set<float> slopes;
  float x[kBlock];
  float slope[kBlock];
  for (int first = 0; first < kCount; first += kBlock) {
    for (int i = 0; i < kBlock; ++i) x[i] = float_from_half(type, static_cast<uint16_t>(first + i));
    slope_of(x, slope, parameters);
    for (const float s : slope) {
      if (!std::isnan(s)) slopes.insert(s);
    }
    if (slopes.size() > kLines) return false;
  }
  return true;
}

[[gnu::noinline]] HalfValues tabulate(ElementType type, ValueKernel<float>* slope,
                                      const DefaultFunction& function) {
  if (is_of_lines(type, slope, function.narrow_parameters)) return {};
  HalfValues table{std::vector<uint16_t>(HalfValues::kStored)};
  double x[kBlock];
  double y[kBlock];
  for (int first = 0; first < kCount; first += kBlock) {
    for (int i = 0; i < kBlock; ++i)
      x[i] = static_cast<double>(float_from_half(type, static_cast<uint16_t>(first + i)));
    function.value(x, y, function.parameters);
    for (int i = 0; i < kBlock; ++i) {
      table.y[static_cast<size_t>(first + i)] = half_from_float(type, rounded_to_odd(y[i]));
    }
  }
  return table;
}

}  // namespace

HalfValues tabulate_halves(ElementType type, ValueKernel<float>* slope,
                           const DefaultFunction& function) {
  const DefaultFloatingPoint arithmetic;
  return tabulate(type, slope, function);
}

ExactHalves find_exact_halves(ElementType type, const HalfValues& table, const Fitted& fit,
                              EvaluateFit* evaluate) {
  if (std::holds_alternative<std::monostate>(fit) || table.y.empty()) return {};
  std::vector<float> x(kCount);
  std::vector<float> y(kCount);
  for (int i = 0; i < kCount; ++i) {
    x[static_cast<size_t>(i)] = float_from_half(type, static_cast<uint16_t>(i));
  }
  evaluate(fit, x.data(), y.data(), kCount);
  const auto is_exact = [&](int bits) {
    const float value = float_from_half(type, table.y[static_cast<size_t>(bits)]);
    const float fitted = y[static_cast<size_t>(bits)];
    return std::isnan(value) ? std::isnan(fitted)
                             : half_from_float(type, fitted) == table.y[static_cast<size_t>(bits)];
  };
  ExactHalves exact;
  int exceptions = 0;
  for (int bits = 0; bits < kCount; ++bits) {
    exact.last = static_cast<uint16_t>(bits);
    if (is_exact(bits)) continue;
    if (x[static_cast<size_t>(bits)] < ExactHalves::kReach) {
      --exact.last;
      break;
    }
    if (exceptions == ExactHalves::kMaxExceptions) return {};
    exact.exception[exceptions++] = static_cast<uint16_t>(bits);
  }
  exact.exception_count = exceptions;
  return exact;
}

}  // namespace fewbit::kernels
