#pragma once

#include <cstdint>

namespace fewbit::kernels {

/// The types of x, y, dy and dx. Results of 16-bit types are rounded to nearest even from float or
/// double.
enum class ElementType : uint8_t { f32, bf16, f16, f64 };

/// Bytes of one element.
constexpr int64_t element_bytes(ElementType type) {
  return type == ElementType::f64 ? 8 : type == ElementType::f32 ? 4 : 2;
}

}  // namespace fewbit::kernels
