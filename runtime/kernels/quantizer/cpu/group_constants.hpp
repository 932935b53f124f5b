#pragma once

#include <cstring>

#include "kernels/half.hpp"
#include "kernels/quantizer/group.hpp"
#include "kernels/quantizer/group_constants.hpp"

/// The constants of groups in memory, of any alignment.
namespace fewbit::kernels {

inline void store_constants(const GroupConstants<float>& of, void* constants, int64_t group) {
  const uint16_t halves[2] = {bf16_from_float(of.minimum), bf16_from_float(of.half_range)};
  std::memcpy(static_cast<uint8_t*>(constants) + 4 * group, halves, sizeof halves);
}

inline void store_constants(const GroupConstants<double>& of, void* constants, int64_t group) {
  std::memcpy(static_cast<uint8_t*>(constants) + 16 * group, &of, sizeof of);
}

template <class Real>
GroupConstants<Real> load_constants(const void* constants, int64_t group);

template <>
inline GroupConstants<float> load_constants<float>(const void* constants, int64_t group) {
  uint16_t halves[2];
  std::memcpy(halves, static_cast<const uint8_t*>(constants) + 4 * group, sizeof halves);
  return {float_from_bf16(halves[0]), float_from_bf16(halves[1])};
}

template <>
inline GroupConstants<double> load_constants<double>(const void* constants, int64_t group) {
  GroupConstants<double> of;
  std::memcpy(&of, static_cast<const uint8_t*>(constants) + 16 * group, sizeof of);
  return of;
}

}  // namespace fewbit::kernels
