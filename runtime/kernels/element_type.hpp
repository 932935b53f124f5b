#pragma once

#include <cstdint>
#include <limits>

namespace fewbit::kernels {

/// The types of x, y, dy and dx. Results of 16-bit types are rounded to nearest even from float or
/// double.
enum class ElementType : uint8_t { f32, bf16, f16, f64 };

/// Bytes of one element.
constexpr int64_t element_bytes(ElementType type) {
  return type == ElementType::f64 ? 8 : type == ElementType::f32 ? 4 : 2;
}

/// The greatest finite number of the type; for fp64 among floats.
constexpr float finite_limit(ElementType type) {
  if (type == ElementType::f16) return 65504.0f;
  return type == ElementType::bf16 ? 0x1.FEp127f : std::numeric_limits<float>::max();
}

}  // namespace fewbit::kernels
