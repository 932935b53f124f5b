#include "kernels/activation/cpu/fitted.hpp"

#include "kernels/floating_point_mode.hpp"

namespace fewbit::kernels {

Fitted fit(const DefaultFunction& function) {
  if (function.kink_count < 0) return {};
  const DefaultFloatingPoint arithmetic;
  if (const auto lines = fit_lines(function)) return *lines;
  if (const auto logistic = fit_logistic(function)) return *logistic;
  if (const auto segments = fit_segments(function)) return *segments;
  return {};
}

}  // namespace fewbit::kernels
