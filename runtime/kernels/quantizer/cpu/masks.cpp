#include <algorithm>
#include <cstring>
#include <type_traits>

#include "kernels/quantizer/integers.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/quantizer/cpu/masks.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/stream/cpu/bits-inl.hpp"

// Elements are compared as the integers that their bits are: no mode of the thread matters, and a
// number is greater than zero where its bits are, and are not above infinity's.

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

/// A type's elements as integers: the first that is a NaN, and that of 1.
template <class Lane, Lane kFirstNan, Lane kOneBits>
struct MaskElement {
  using Stored = Lane;
  using Tag = hn::CappedTag<Lane, 64 / sizeof(Lane)>;
  static constexpr Lane kOne = kOneBits;
  static constexpr Lane kNan = kFirstNan;
};
using MaskF32 = MaskElement<int32_t, 0x7F800001, 0x3F800000>;
using MaskBf16 = MaskElement<int16_t, 0x7F81, 0x3F80>;
using MaskF16 = MaskElement<int16_t, 0x7C01, 0x3C00>;
using MaskF64 = MaskElement<int64_t, 0x7FF0000000000001, 0x3FF0000000000000>;
using MaskBool = MaskElement<uint8_t, 0xFF, 1>;

/// Whether the elements from `from` on are greater than zero.
template <class M>
HWY_INLINE hn::Mask<typename M::Tag> are_greater(const typename M::Stored* from) {
  const typename M::Tag d;
  const auto x = hn::LoadU(d, from);
  if constexpr (std::is_same_v<M, MaskBool>) {
    return hn::Ne(x, hn::Zero(d));
  } else {
    return hn::And(hn::Gt(x, hn::Zero(d)), hn::Lt(x, hn::Set(d, M::kNan)));
  }
}

template <class M>
void encode_mask_block(const void* x, uint8_t* stream) {
  const typename M::Tag d;
  const auto* from = static_cast<const typename M::Stored*>(x);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  if (lanes >= 8) {
    for (int64_t i = 0; i < kBlock; i += lanes) {
      hn::StoreMaskBits(d, are_greater<M>(from + i), stream + i / 8);
    }
    return;
  }
  for (int64_t i = 0; i < kBlock; i += 8) {
    int byte = 0;
    for (int64_t k = 0; k < 8; k += lanes) {
      uint8_t bits[8];
      hn::StoreMaskBits(d, are_greater<M>(from + i + k), bits);
      byte |= bits[0] << k;
    }
    stream[i / 8] = static_cast<uint8_t>(byte);
  }
}

template <class M, bool kPastCache>
void decode_mask_block(const uint8_t* stream, void* x) {
  const typename M::Tag d;
  auto* to = static_cast<typename M::Stored*>(x);
  const auto one = hn::Set(d, M::kOne);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < kBlock; i += lanes) {
    uint8_t bits[8];  // as many as may be read
    std::memcpy(bits, stream + i / 8, 8);
    bits[0] = static_cast<uint8_t>(bits[0] >> i % 8);
    const auto mask = hn::LoadMaskBits(d, lanes >= 8 ? stream + i / 8 : bits);
    put<kPastCache>(hn::IfThenElseZero(mask, one), d, to + i);
  }
}

template <class M>
void run_mask_encode(const void* x, uint8_t* codes, const Range& range) {
  const auto* from = static_cast<const typename M::Stored*>(x);
  const int64_t inner = range.end / kBlock * kBlock;
  for (int64_t i = range.begin; i < inner; i += kBlock) {
    encode_mask_block<M>(from + i, codes + i / 8);
  }
  if (range.end < range.count) return;
  const int64_t first = std::max(inner, range.begin);
  uint8_t stream[kBitsBuffer] = {};
  if (first < range.end) {
    typename M::Stored padded[kBlock] = {};
    std::memcpy(padded, from + first, static_cast<size_t>(range.end - first) * sizeof padded[0]);
    encode_mask_block<M>(padded, stream);
  }
  const int64_t bytes = code_bytes(range.count, 1) - first / 8;
  std::memcpy(codes + first / 8, stream, static_cast<size_t>(bytes));
}

template <class M>
void run_mask_decode(const uint8_t* codes, void* x, const Range& range) {
  using Stored = typename M::Stored;
  auto* to = static_cast<Stored*>(x);
  const bool is_aligned = reinterpret_cast<uintptr_t>(x) % 64 == 0;
  const bool past_cache =
      is_aligned && 2 * range.count * int64_t{sizeof(Stored)} >= kPastCacheBytes;
  const auto stage = past_cache ? decode_mask_block<M, true> : decode_mask_block<M, false>;
  // The last block of the stream has no bytes after it to read.
  const int64_t inner = std::min(range.end, range.count - 1) / kBlock * kBlock;
  for (int64_t i = range.begin; i < inner; i += kBlock) stage(codes + i / 8, to + i);
  if (past_cache) hwy::FlushStream();
  const int64_t first = std::max(inner, range.begin);
  if (first == range.end) return;
  uint8_t stream[kBitsBuffer] = {};
  alignas(64) Stored padded[kBlock];
  std::memcpy(stream, codes + first / 8,
              static_cast<size_t>(code_bytes(range.count, 1) - first / 8));
  decode_mask_block<M, false>(stream, padded);
  std::memcpy(to + first, padded, static_cast<size_t>(range.end - first) * sizeof(Stored));
}

void run_sign_encode(ElementType type, const void* x, uint8_t* codes, const Range& range) {
  switch (type) {
    case ElementType::f32:
      return run_mask_encode<MaskF32>(x, codes, range);
    case ElementType::bf16:
      return run_mask_encode<MaskBf16>(x, codes, range);
    case ElementType::f16:
      return run_mask_encode<MaskF16>(x, codes, range);
    default:
      return run_mask_encode<MaskF64>(x, codes, range);
  }
}

void run_sign_decode(ElementType type, const uint8_t* codes, void* x, const Range& range) {
  switch (type) {
    case ElementType::f32:
      return run_mask_decode<MaskF32>(codes, x, range);
    case ElementType::bf16:
      return run_mask_decode<MaskBf16>(codes, x, range);
    case ElementType::f16:
      return run_mask_decode<MaskF16>(codes, x, range);
    default:
      return run_mask_decode<MaskF64>(codes, x, range);
  }
}

void run_bool_encode(const bool* x, uint8_t* codes, const Range& range) {
  run_mask_encode<MaskBool>(x, codes, range);
}

void run_bool_decode(const uint8_t* codes, bool* x, const Range& range) {
  run_mask_decode<MaskBool>(codes, x, range);
}

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fewbit::kernels {

HWY_EXPORT(run_sign_encode);
HWY_EXPORT(run_sign_decode);
HWY_EXPORT(run_bool_encode);
HWY_EXPORT(run_bool_decode);

void sign_encode(ElementType type, const void* x, uint8_t* codes, const Range& range) {
  HWY_DYNAMIC_DISPATCH(run_sign_encode)(type, x, codes, range);
}

void sign_decode(ElementType type, const uint8_t* codes, void* x, const Range& range) {
  HWY_DYNAMIC_DISPATCH(run_sign_decode)(type, codes, x, range);
}

void mask_encode(const bool* x, uint8_t* codes, const Range& range) {
  HWY_DYNAMIC_DISPATCH(run_bool_encode)(x, codes, range);
}

void mask_decode(const uint8_t* codes, bool* x, const Range& range) {
  HWY_DYNAMIC_DISPATCH(run_bool_decode)(codes, x, range);
}

}  // namespace fewbit::kernels
#endif
