#pragma once

#include <type_traits>

#include "kernels/quantizer/cuda/rotated_arguments.hpp"

namespace fewbit::kernels::cuda {

/// pick(type, group) of what a call has, as integral constants.
template <class Pick>
auto by_type_and_group(ElementType type, int64_t group, Pick pick) {
  const auto by_group = [&](auto known) {
    switch (group) {
      case 64:
        return pick(known, std::integral_constant<int, 64>());
      case 128:
        return pick(known, std::integral_constant<int, 128>());
      case 256:
        return pick(known, std::integral_constant<int, 256>());
      case 512:
        return pick(known, std::integral_constant<int, 512>());
      default:
        return pick(known, std::integral_constant<int, 1024>());
    }
  };
  switch (type) {
    case ElementType::f32:
      return by_group(std::integral_constant<ElementType, ElementType::f32>());
    case ElementType::bf16:
      return by_group(std::integral_constant<ElementType, ElementType::bf16>());
    case ElementType::f16:
      return by_group(std::integral_constant<ElementType, ElementType::f16>());
    default:
      return by_group(std::integral_constant<ElementType, ElementType::f64>());
  }
}

}  // namespace fewbit::kernels::cuda
