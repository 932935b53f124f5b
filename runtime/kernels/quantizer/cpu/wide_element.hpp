#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/element_type.hpp"
#include "kernels/half.hpp"

namespace fewbit::kernels {

/// Element i of a run, at any address.
inline double wide_element(ElementType type, const void* from, int64_t i) {
  const auto* bytes = static_cast<const uint8_t*>(from) + i * element_bytes(type);
  if (type == ElementType::f64) {
    double value = 0.0;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }
  if (type == ElementType::f32) {
    float value = 0.0f;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }
  uint16_t half = 0;
  std::memcpy(&half, bytes, sizeof half);
  return float_from_half(type, half);
}

}  // namespace fewbit::kernels
