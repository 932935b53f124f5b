#pragma once

#include "kernels/quantizer/cuda/decoded.hpp"
#include "kernels/quantizer/group_constants.hpp"

/// The constants of groups in a device's memory.
namespace fewbit::kernels::cuda {

FEWBIT_HD inline void store_constants(const GroupConstants<float>& of, void* constants,
                                      int64_t group) {
  auto* const to = static_cast<uint16_t*>(constants) + 2 * group;
  to[0] = static_cast<uint16_t>(bits_of(of.minimum) >> 16);
  to[1] = static_cast<uint16_t>(bits_of(of.half_range) >> 16);
}

FEWBIT_HD inline void store_constants(const GroupConstants<double>& of, void* constants,
                                      int64_t group) {
  auto* const to = static_cast<double*>(constants) + 2 * group;
  to[0] = of.minimum;
  to[1] = of.half_range;
}

template <class Real>
FEWBIT_HD GroupConstants<Real> load_constants(const void* constants, int64_t group) {
  if constexpr (sizeof(Real) == 8) {
    const auto* const from = static_cast<const double*>(constants) + 2 * group;
    return {from[0], from[1]};
  } else {
    const auto* const from = static_cast<const uint16_t*>(constants) + 2 * group;
    return {float_of(uint32_t{from[0]} << 16), float_of(uint32_t{from[1]} << 16)};
  }
}

}  // namespace fewbit::kernels::cuda
