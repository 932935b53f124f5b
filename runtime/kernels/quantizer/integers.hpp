#pragma once

#include <bit>
#include <cstdint>

#include "kernels/element_type.hpp"
#include "kernels/stream/code_stream.hpp"

/// Exact codes of elements that need fewer bits than their type has, in the dense stream of
/// code_stream.hpp: integers as their distance from the least one, masks in one bit. All
/// instruction sets, ranges and floating-point modes give the same.
namespace fewbit::kernels {

enum class IntegerType : uint8_t { boolean, u8, i32, i64 };

/// Bytes of one element.
constexpr int64_t element_bytes(IntegerType type) {
  return type == IntegerType::i64 ? 8 : type == IntegerType::i32 ? 4 : 1;
}

/// The most bits of an integer's code.
inline constexpr int kMaxIntegerBits = 32;

/// The least bits that hold all distances up to maximum - minimum, 0 to 64.
constexpr int integer_bits(int64_t minimum, int64_t maximum) {
  const uint64_t widest = static_cast<uint64_t>(maximum) - static_cast<uint64_t>(minimum);
  return static_cast<int>(std::bit_width(widest));
}

/// code[i] = x[i] - minimum in `bits` bits, 0 to kMaxIntegerBits; without bits nothing is written.
/// A boolean is 1 where its byte is not zero. False where an element lies outside [minimum, minimum
/// + 2^bits): its code is then of no use, its neighbours' are right.
[[nodiscard]] bool integer_encode(IntegerType type, const void* x, int64_t minimum, int bits,
                                  uint8_t* codes, const Range& range);

/// x[i] = minimum + code[i], which has to lie in the type; for booleans whether it is not zero.
/// Without bits `codes` is not read.
void integer_decode(IntegerType type, const uint8_t* codes, int64_t minimum, int bits, void* x,
                    const Range& range);

/// code[i] = x[i] > 0, one bit; NaN is not greater.
void sign_encode(ElementType type, const void* x, uint8_t* codes, const Range& range);

/// x[i] = code[i], 1 or 0.
void sign_decode(ElementType type, const uint8_t* codes, void* x, const Range& range);

/// The same of booleans.
void mask_encode(const bool* x, uint8_t* codes, const Range& range);
void mask_decode(const uint8_t* codes, bool* x, const Range& range);

}  // namespace fewbit::kernels
