#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/stream/cuda/vector.hpp"

/// Elements that a mask says of whether they are greater than zero. They are compared as the
/// integers that their bits are: one less, those are below infinity.
namespace fewbit::kernels::cuda {

template <class Stored, Stored kInfinityBits, Stored kOneBits>
struct MaskElement {
  using Bits = Stored;
  static constexpr Bits kOne = kOneBits;
  static constexpr int kPer = 16 / static_cast<int>(sizeof(Bits));  ///< in a vector

  static FEWBIT_HD bool is_greater(Bits x) { return static_cast<Bits>(x - 1) < kInfinityBits; }

  /// Bit i: whether the vector's element i is greater than zero.
  static FEWBIT_HD uint32_t bits_of(const Vector& vector) {
    Bits x[kPer];
    std::memcpy(x, &vector, sizeof vector);
    uint32_t bits = 0;
    FEWBIT_UNROLL
    for (int i = 0; i < kPer; ++i) bits |= (is_greater(x[i]) ? 1u : 0u) << i;
    return bits;
  }

  static FEWBIT_HD Vector vector_of(uint32_t bits) {
    Bits x[kPer];
    FEWBIT_UNROLL
    for (int i = 0; i < kPer; ++i) x[i] = (bits >> i & 1u) != 0 ? kOne : Bits{0};
    Vector vector;
    std::memcpy(&vector, x, sizeof vector);
    return vector;
  }
};

using MaskF32 = MaskElement<uint32_t, 0x7F800000, 0x3F800000>;
using MaskBf16 = MaskElement<uint16_t, 0x7F80, 0x3F80>;
using MaskF16 = MaskElement<uint16_t, 0x7C00, 0x3C00>;
using MaskF64 = MaskElement<uint64_t, 0x7FF0000000000000, 0x3FF0000000000000>;

/// Any byte but zero is true. Four at a time: products bring their bits together, and apart.
struct MaskBool {
  using Bits = uint8_t;
  static constexpr Bits kOne = 1;
  static constexpr int kPer = 16;

  static FEWBIT_HD bool is_greater(Bits x) { return x != 0; }

  static FEWBIT_HD uint32_t bits_of(const Vector& vector) {
    uint32_t bits = 0;
    FEWBIT_UNROLL
    for (int i = 0; i < 4; ++i) {
      const uint32_t word = vector.word[i];
      const uint32_t upper = (((word & 0x7F7F7F7Fu) + 0x7F7F7F7Fu) | word) & 0x80808080u;
      bits |= (upper >> 7) * 0x10204080u >> 28 << 4 * i;
    }
    return bits;
  }

  static FEWBIT_HD Vector vector_of(uint32_t bits) {
    Vector vector;
    FEWBIT_UNROLL
    for (int i = 0; i < 4; ++i) {
      vector.word[i] = (bits >> 4 * i & 0xFu) * 0x00204081u & 0x01010101u;
    }
    return vector;
  }
};

}  // namespace fewbit::kernels::cuda
