#pragma once

#include <functional>

#include "tests/codegen/device_errors.hpp"

namespace fewbit::test {

using Function = std::function<double(double)>;

/// The largest error of a float function in units of unit(exact result), however the device
/// approximates: every 9973rd float of either sign between lo and hi.
inline double worst_error(float (*function)(float), const Function& exact, const Function& unit,
                          float lo, float hi) {
  double worst = 0.0;
  for (const DeviceErrors& errors : kDeviceErrors) {
    device_errors = errors;
    for (uint64_t bits = 0; bits <= 0xffffffffu; bits += 9973) {
      const float x = generated::math::from_bits(static_cast<uint32_t>(bits));
      if (!(x >= lo && x <= hi)) continue;
      const double expected = exact(static_cast<double>(x));
      const double error = std::fabs(static_cast<double>(function(x)) - expected) / unit(expected);
      worst = error <= worst ? worst : error;  // NaN sticks
    }
  }
  return worst;
}

}  // namespace fewbit::test
