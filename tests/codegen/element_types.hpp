#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/half.hpp"

namespace fewbit::test {

/// A 16-bit type as a user's program has it: bits that convert to float and back.
template <float (*widen)(uint16_t), uint16_t (*narrow)(float)>
struct Bits16 {
  uint16_t bits = 0;
  Bits16() = default;
  explicit Bits16(uint16_t pattern) : bits(pattern) {}
  explicit Bits16(float x) : bits(narrow(x)) {}
  explicit operator float() const { return widen(bits); }
};

using Float16 = Bits16<kernels::float_from_f16, kernels::f16_from_float>;
using BFloat16 = Bits16<kernels::float_from_bf16, kernels::bf16_from_float>;

/// All values of the type, in the order of their bits.
template <class T>
std::vector<T> all_values() {
  std::vector<T> values;
  for (int bits = 0; bits < 65536; ++bits) values.emplace_back(static_cast<uint16_t>(bits));
  return values;
}

/// Bit by bit, knowing nothing but the format's definition.
inline unsigned read_code(const std::vector<uint8_t>& stream, size_t bits, size_t element) {
  unsigned code = 0;
  for (size_t bit = 0; bit < bits; ++bit) {
    const size_t position = element * bits + bit;
    code |= ((stream[position / 8] >> (position % 8)) & 1u) << bit;
  }
  return code;
}

}  // namespace fewbit::test
