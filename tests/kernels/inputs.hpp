#pragma once

#include <limits>

#include "tests/kernels/reference.hpp"

/// Inputs at which kernels could differ.
namespace fewbit::kernels {

/// All bit patterns of a 16-bit type.
inline std::vector<uint8_t> every_half() {
  std::vector<uint8_t> bytes;
  for (int half = 0; half < 65536; ++half) {
    bytes.push_back(static_cast<uint8_t>(half));
    bytes.push_back(static_cast<uint8_t>(half >> 8));
  }
  return bytes;
}

/// The thresholds, their neighbours among the values of Real, zeros, infinities, NaN, and 700
/// others.
template <class Real>
std::vector<double> around_thresholds(const StepView& steps) {
  constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
  std::vector<double> x = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1e-300, -1e-300, 1e300, -1e300};
  for (int i = 0; i < steps.threshold_count; ++i) {
    for (const Real sign : {Real{1}, Real{-1}}) {
      const Real t = sign * static_cast<Real>(steps.thresholds[i]);
      for (const Real at : {t, std::nextafter(t, kInfinity), std::nextafter(t, -kInfinity)}) {
        x.push_back(static_cast<double>(at));
      }
    }
  }
  const std::vector<double> random = normal_inputs(700, 21);
  x.insert(x.end(), random.begin(), random.end());
  for (double& value : x) value = static_cast<double>(static_cast<Real>(value));
  return x;
}

}  // namespace fewbit::kernels
