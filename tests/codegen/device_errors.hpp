#pragma once

#include <cmath>

/// The generated functions, and those of users as they are generated, computing on the host as a
/// device would whose approximations are off by as much as they may be. For programs that see them
/// through this header only.
namespace fewbit::test {

/// In parts of what is allowed, -1 to 1.
struct DeviceErrors {
  double exp2 = 0.0;
  double log2 = 0.0;
  double reciprocal = 0.0;
};

inline DeviceErrors device_errors;

inline constexpr DeviceErrors kDeviceErrors[] = {
    {0.0, 0.0, 0.0}, {-1.0, -1.0, -1.0}, {-1.0, -1.0, 1.0}, {1.0, 1.0, -1.0}, {1.0, 1.0, 1.0}};

/// Zero where it would be subnormal.
inline float flushed(double y) {
  return std::fabs(y) < 0x1p-126 ? static_cast<float>(0.0 * y) : static_cast<float>(y);
}

inline float device_exp2(float x) {
  return flushed(std::exp2(static_cast<double>(x)) * (1.0 + device_errors.exp2 * 0x1p-22));
}

inline float device_log2(float x) {
  const double y = std::log2(static_cast<double>(x));
  const double scale = x > 0.5f && x < 2.0f ? 1.0 : y;
  return std::isfinite(y) ? static_cast<float>(y + device_errors.log2 * 0x1p-22 * scale)
                          : static_cast<float>(y);
}

inline float device_reciprocal(float x) {
  const double y = 1.0 / static_cast<double>(flushed(static_cast<double>(x)));
  return flushed(y * (1.0 + device_errors.reciprocal * 0x1p-23));
}

inline float device_quotient(float a, float b) {
  const double y = static_cast<double>(a) / static_cast<double>(b);
  return static_cast<float>(y * (1.0 + device_errors.reciprocal * 0x1p-22));
}

}  // namespace fewbit::test

#define FEWBIT_HOST_EXP2(x) ::fewbit::test::device_exp2(x)
#define FEWBIT_HOST_LOG2(x) ::fewbit::test::device_log2(x)
#define FEWBIT_HOST_RECIPROCAL(x) ::fewbit::test::device_reciprocal(x)
#define FEWBIT_HOST_QUOTIENT(a, b) ::fewbit::test::device_quotient(a, b)

#include "emitted/own/own_atan.hpp"
#include "emitted/own/own_bump.hpp"
#include "emitted/own/own_calls.hpp"
#include "emitted/own/own_erfc.hpp"
#include "emitted/own/own_hump.hpp"
#include "emitted/own/own_logs.hpp"
#include "emitted/own/own_power.hpp"
#include "emitted/own/own_snake.hpp"
#include "emitted/own/own_wave.hpp"
#include "generated/functions.hpp"
#include "tests/codegen/own_functions.hpp"
