#pragma once

#include <type_traits>

#include "kernels/quantizer/cuda/rotated_arguments.hpp"

namespace fewbit::kernels::cuda {

/// pick(type) of what a call has, which is not f64, as an integral constant.
template <class Pick>
auto by_short_type(ElementType type, Pick pick) {
  switch (type) {
    case ElementType::bf16:
      return pick(std::integral_constant<ElementType, ElementType::bf16>());
    case ElementType::f16:
      return pick(std::integral_constant<ElementType, ElementType::f16>());
    default:
      return pick(std::integral_constant<ElementType, ElementType::f32>());
  }
}

/// The same of every type.
template <class Pick>
auto by_type(ElementType type, Pick pick) {
  return type == ElementType::f64 ? pick(std::integral_constant<ElementType, ElementType::f64>())
                                  : by_short_type(type, pick);
}

/// pick(group), likewise.
template <class Pick>
auto by_group(int64_t group, Pick pick) {
  switch (group) {
    case 64:
      return pick(std::integral_constant<int, 64>());
    case 128:
      return pick(std::integral_constant<int, 128>());
    case 256:
      return pick(std::integral_constant<int, 256>());
    case 512:
      return pick(std::integral_constant<int, 512>());
    default:
      return pick(std::integral_constant<int, 1024>());
  }
}

/// pick(type, group), likewise, of types that are not f64.
template <class Pick>
auto by_short_type_and_group(ElementType type, int64_t group, Pick pick) {
  return by_short_type(type, [&](auto known_type) {
    return by_group(group, [&](auto known_group) { return pick(known_type, known_group); });
  });
}

/// The same of every type.
template <class Pick>
auto by_type_and_group(ElementType type, int64_t group, Pick pick) {
  return by_type(type, [&](auto known_type) {
    return by_group(group, [&](auto known_group) { return pick(known_type, known_group); });
  });
}

}  // namespace fewbit::kernels::cuda
