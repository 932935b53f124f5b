#include "kernels/quantizer/integers.hpp"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/quantizer/cpu/integers.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/stream/cpu/bits-inl.hpp"

// Distances are unsigned and wrap, so that no difference of two numbers overflows.

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

/// How a type's elements lie in memory.
template <IntegerType kType>
struct Integer;
template <>
struct Integer<IntegerType::boolean> {
  using Stored = uint8_t;
  static uint64_t of(uint8_t x) { return x != 0; }
  static uint8_t stored(uint64_t value) { return value != 0; }
};
template <>
struct Integer<IntegerType::u8> {
  using Stored = uint8_t;
  static uint64_t of(uint8_t x) { return x; }
  static uint8_t stored(uint64_t value) { return static_cast<uint8_t>(value); }
};
template <>
struct Integer<IntegerType::i32> {
  using Stored = int32_t;
  static uint64_t of(int32_t x) { return static_cast<uint64_t>(int64_t{x}); }
  static int32_t stored(uint64_t value) { return static_cast<int32_t>(value); }
};
template <>
struct Integer<IntegerType::i64> {
  using Stored = int64_t;
  static uint64_t of(int64_t x) { return static_cast<uint64_t>(x); }
  static int64_t stored(uint64_t value) { return static_cast<int64_t>(value); }
};

template <class Stored>
Stored load_at(const void* x, int64_t i) {
  Stored value;
  std::memcpy(&value, static_cast<const uint8_t*>(x) + i * int64_t{sizeof value}, sizeof value);
  return value;
}

/// The low bits of `count` codes one after the other; the stream has four bytes after its last.
inline void pack_wide(const uint32_t* codes, int64_t count, int bits, uint8_t* stream) {
  uint64_t waiting = 0;
  int waiting_bits = 0;
  for (int64_t i = 0; i < count; ++i) {
    waiting |= uint64_t{codes[i]} << waiting_bits;
    waiting_bits += bits;
    if (waiting_bits >= 32) {
      std::memcpy(stream, &waiting, 4);
      stream += 4;
      waiting >>= 32;
      waiting_bits -= 32;
    }
  }
  std::memcpy(stream, &waiting, 4);
}

/// A block's distances, of which those beyond `count` are zero, and whether all fit.
template <IntegerType kType, class Code>
bool distances(const void* x, uint64_t minimum, int bits, int64_t count, Code* codes) {
  using I = Integer<kType>;
  uint64_t all = 0;
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t distance = I::of(load_at<typename I::Stored>(x, i)) - minimum;
    all |= distance;
    codes[i] = static_cast<Code>(distance & mask);
  }
  std::fill(codes + count, codes + kBlock, Code{0});
  return (all & ~mask) == 0;
}

/// A block's stream.
template <IntegerType kType>
bool encode_block(const void* x, uint64_t minimum, int bits, int64_t count, uint8_t* stream) {
  if (bits <= 8) {
    alignas(64) uint8_t codes[kBlock];
    const bool fits = distances<kType>(x, minimum, bits, count, codes);
    pack(codes, kBlock, bits, stream);
    return fits;
  }
  alignas(64) uint32_t codes[kBlock];
  const bool fits = distances<kType>(x, minimum, bits, count, codes);
  pack_wide(codes, kBlock, bits, stream);
  return fits;
}

/// A block of a stream that has seven bytes after its last. A code begins in a byte and ends, at
/// most 39 bits later, within eight.
template <IntegerType kType>
void decode_block(const uint8_t* stream, uint64_t minimum, int bits, int64_t count, void* x) {
  using I = Integer<kType>;
  auto* to = static_cast<uint8_t*>(x);
  if (bits > 0 && bits <= 8) {
    alignas(64) uint8_t codes[kBlock];
    for (int64_t i = 0; i < kBlock; i += 8) {
      const uint64_t eight = spread_bits(load_at<uint64_t>(stream + i / 8 * bits, 0), bits);
      std::memcpy(codes + i, &eight, 8);
    }
    for (int64_t i = 0; i < count; ++i) {
      const auto value = I::stored(minimum + codes[i]);
      std::memcpy(to + i * int64_t{sizeof value}, &value, sizeof value);
    }
    return;
  }
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t place = i * bits;
    const uint64_t code = load_at<uint64_t>(stream + place / 8, 0) >> place % 8 & mask;
    const auto value = I::stored(minimum + code);
    std::memcpy(to + i * int64_t{sizeof value}, &value, sizeof value);
  }
}

inline constexpr int64_t kWideBuffer = kBlock / 8 * kMaxIntegerBits + 16;

template <IntegerType kType>
bool run_encode(const void* x, int64_t minimum, int bits, uint8_t* codes, const Range& range) {
  const auto* from = static_cast<const uint8_t*>(x);
  bool fits = true;
  for (int64_t i = range.begin; i < range.end; i += kBlock) {
    const int64_t count = std::min(kBlock, range.end - i);
    uint8_t stream[kWideBuffer];
    fits &= encode_block<kType>(from + i * element_bytes(kType), static_cast<uint64_t>(minimum),
                                bits, count, stream);
    const int64_t begin = i / 8 * bits;
    const int64_t end =
        i + count == range.count ? code_bytes(range.count, bits) : (i + count) / 8 * bits;
    if (end > begin) std::memcpy(codes + begin, stream, static_cast<size_t>(end - begin));
  }
  return fits;
}

template <IntegerType kType>
void run_decode(const uint8_t* codes, int64_t minimum, int bits, void* x, const Range& range) {
  auto* to = static_cast<uint8_t*>(x);
  for (int64_t i = range.begin; i < range.end; i += kBlock) {
    const int64_t count = std::min(kBlock, range.end - i);
    uint8_t stream[kWideBuffer] = {};
    const uint8_t* from = stream;
    const int64_t begin = i / 8 * bits;
    if (bits > 0 && i + kBlock < range.count) {
      from = codes + begin;
    } else if (bits > 0) {  // the last block of the stream has no bytes after it to read
      std::memcpy(stream, codes + begin,
                  static_cast<size_t>(code_bytes(range.count, bits) - begin));
    }
    decode_block<kType>(from, static_cast<uint64_t>(minimum), bits, count,
                        to + i * element_bytes(kType));
  }
}

bool run_integer_encode(IntegerType type, const void* x, int64_t minimum, int bits, uint8_t* codes,
                        const Range& range) {
  switch (type) {
    case IntegerType::boolean:
      return run_encode<IntegerType::boolean>(x, minimum, bits, codes, range);
    case IntegerType::u8:
      return run_encode<IntegerType::u8>(x, minimum, bits, codes, range);
    case IntegerType::i32:
      return run_encode<IntegerType::i32>(x, minimum, bits, codes, range);
    default:
      return run_encode<IntegerType::i64>(x, minimum, bits, codes, range);
  }
}

void run_integer_decode(IntegerType type, const uint8_t* codes, int64_t minimum, int bits, void* x,
                        const Range& range) {
  switch (type) {
    case IntegerType::boolean:
      return run_decode<IntegerType::boolean>(codes, minimum, bits, x, range);
    case IntegerType::u8:
      return run_decode<IntegerType::u8>(codes, minimum, bits, x, range);
    case IntegerType::i32:
      return run_decode<IntegerType::i32>(codes, minimum, bits, x, range);
    default:
      return run_decode<IntegerType::i64>(codes, minimum, bits, x, range);
  }
}

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fewbit::kernels {

HWY_EXPORT(run_integer_encode);
HWY_EXPORT(run_integer_decode);

bool integer_encode(IntegerType type, const void* x, int64_t minimum, int bits, uint8_t* codes,
                    const Range& range) {
  return HWY_DYNAMIC_DISPATCH(run_integer_encode)(type, x, minimum, bits, codes, range);
}

void integer_decode(IntegerType type, const uint8_t* codes, int64_t minimum, int bits, void* x,
                    const Range& range) {
  HWY_DYNAMIC_DISPATCH(run_integer_decode)(type, codes, minimum, bits, x, range);
}

}  // namespace fewbit::kernels
#endif
