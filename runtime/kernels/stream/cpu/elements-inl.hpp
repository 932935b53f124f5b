// The load and store stages of each type. Included once per instruction set.
#if defined(FEWBIT_ELEMENTS_INL) == defined(HWY_TARGET_TOGGLE)
#if defined(FEWBIT_ELEMENTS_INL)
#undef FEWBIT_ELEMENTS_INL
#else
#define FEWBIT_ELEMENTS_INL
#endif

#include <cmath>
#include <cstring>

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "kernels/element_type.hpp"
#include "kernels/half.hpp"
#include "kernels/stream/code_stream.hpp"
#include "kernels/stream/cpu/element_stages.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::CappedTag<float, 16>;
using IntTag = hn::Rebind<int32_t, FloatTag>;
using UnsignedTag = hn::Rebind<uint32_t, FloatTag>;
using HalfTag = hn::Rebind<uint16_t, FloatTag>;
using PairTag = hn::Repartition<uint16_t, FloatTag>;
using ByteTag = hn::Rebind<uint8_t, FloatTag>;
using FloatVec = hn::Vec<FloatTag>;

/// The lesser of a bound and v, and the greater; NaN where v is. x86 takes the second operand
/// there, NEON the number.
HWY_INLINE FloatVec min_or_nan(FloatVec bound, FloatVec v) {
#if HWY_ARCH_X86
  return hn::Min(bound, v);
#else
  return hn::IfThenElse(hn::Lt(bound, v), bound, v);
#endif
}

HWY_INLINE FloatVec max_or_nan(FloatVec bound, FloatVec v) {
#if HWY_ARCH_X86
  return hn::Max(bound, v);
#else
  return hn::IfThenElse(hn::Gt(bound, v), bound, v);
#endif
}

/// a * b + c, rounded once on every instruction set.
HWY_INLINE FloatVec fused_multiply_add(FloatVec a, FloatVec b, FloatVec c) {
#if HWY_NATIVE_FMA
  return hn::MulAdd(a, b, c);
#else
  const FloatTag d;
  alignas(64) float x[16], y[16], z[16];
  hn::Store(a, d, x);
  hn::Store(b, d, y);
  hn::Store(c, d, z);
  for (size_t i = 0; i < hn::Lanes(d); ++i) z[i] = std::fma(x[i], y[i], z[i]);
  return hn::Load(d, z);
#endif
}

/// Two vectors that are worked on in turn, so that neither waits for itself.
struct FloatPair {
  FloatVec of[2];

  // Not left to the compiler, which would not compile them for the instruction set.
  HWY_INLINE FloatPair() {}
  HWY_INLINE FloatPair(FloatVec low, FloatVec high) : of{low, high} {}

  HWY_INLINE FloatVec& operator[](int i) { return of[i]; }
  HWY_INLINE const FloatVec& operator[](int i) const { return of[i]; }
};

template <class Step>
HWY_INLINE void for_pair(const Step& step) {
  step(0);
  step(1);
}

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
/// Floats in upper and lower halves to bf16, to nearest even: up where what is cut off is more than
/// a half, or a half beside an odd number. A NaN needs no care: one that comes from bf16 inputs has
/// zeros in the lower half.
HWY_INLINE hn::Vec<PairTag> round_halves(__m512i upper, __m512i lower) {
  constexpr int kLowerOrOdd = 0xF8;  // lower | (upper & 1)
  const __m512i cut = _mm512_ternarylogic_epi32(lower, upper, _mm512_set1_epi16(1), kLowerOrOdd);
  const __mmask32 is_up = _mm512_cmpgt_epu16_mask(cut, _mm512_set1_epi16(INT16_MIN));
  return hn::Vec<PairTag>{_mm512_mask_sub_epi16(upper, is_up, upper, _mm512_set1_epi16(-1))};
}
#endif

/// Rounds two vectors to bf16.
HWY_INLINE hn::Vec<PairTag> narrow_bf16(FloatVec low, FloatVec high) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  const PairTag dh;
  const auto even = hn::Add(hn::Iota(dh, 0), hn::Iota(dh, 0));
  const auto odd = hn::Add(even, hn::Set(dh, 1));
  const __m512i low_bits = _mm512_castps_si512(low.raw);
  const __m512i high_bits = _mm512_castps_si512(high.raw);
  return round_halves(_mm512_permutex2var_epi16(low_bits, odd.raw, high_bits),
                      _mm512_permutex2var_epi16(low_bits, even.raw, high_bits));
#else
  const UnsignedTag du;
  const auto round = [du](FloatVec v) HWY_ATTR {
    const auto bits = hn::BitCast(du, v);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
    return hn::Add(hn::Add(bits, hn::Set(du, 0x7FFF)), odd);
  };
  return hn::Combine(PairTag(), hn::TruncateTo(HalfTag(), hn::ShiftRight<16>(round(high))),
                     hn::TruncateTo(HalfTag(), hn::ShiftRight<16>(round(low))));
#endif
}

#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
HWY_INLINE FloatVec widen_f16(const uint16_t* from) {
  const hn::Rebind<hwy::float16_t, FloatTag> dh;
  return hn::PromoteTo(FloatTag(), hn::BitCast(dh, hn::LoadU(HalfTag(), from)));
}

HWY_INLINE hn::Vec<HalfTag> narrow_f16(FloatVec v) {
  const hn::Rebind<hwy::float16_t, FloatTag> dh;
  return hn::BitCast(HalfTag(), hn::DemoteTo(dh, v));
}
#else
HWY_INLINE FloatVec widen_f16(const uint16_t* from) {
  HWY_ALIGN float wide[16];
  for (size_t i = 0; i < hn::Lanes(FloatTag()); ++i) wide[i] = float_from_f16(from[i]);
  return hn::Load(FloatTag(), wide);
}

HWY_INLINE hn::Vec<HalfTag> narrow_f16(FloatVec v) {
  HWY_ALIGN float wide[16];
  HWY_ALIGN uint16_t half[16];
  hn::Store(v, FloatTag(), wide);
  for (size_t i = 0; i < hn::Lanes(FloatTag()); ++i) half[i] = f16_from_float(wide[i]);
  return hn::Load(HalfTag(), half);
}
#endif

template <bool kPastCache, class D>
HWY_INLINE void put(hn::Vec<D> v, D d, hn::TFromD<D>* to) {
  if constexpr (kPastCache) {
    hn::Stream(v, d, to);
  } else {
    hn::StoreU(v, d, to);
  }
}

/// How a type is loaded by one vector of floats and stored by two.
template <ElementType kType>
struct Element;

template <>
struct Element<ElementType::f32> {
  using Stored = float;
  static HWY_INLINE FloatVec load(const Stored* from) { return hn::LoadU(FloatTag(), from); }
  template <bool kPastCache>
  static HWY_INLINE void store(FloatVec low, FloatVec high, Stored* to) {
    put<kPastCache>(low, FloatTag(), to);
    put<kPastCache>(high, FloatTag(), to + hn::Lanes(FloatTag()));
  }
};

template <>
struct Element<ElementType::bf16> {
  using Stored = uint16_t;
  static HWY_INLINE FloatVec load(const Stored* from) {
    const auto wide = hn::PromoteTo(UnsignedTag(), hn::LoadU(HalfTag(), from));
    return hn::BitCast(FloatTag(), hn::ShiftLeft<16>(wide));
  }
  template <bool kPastCache>
  static HWY_INLINE void store(FloatVec low, FloatVec high, Stored* to) {
    put<kPastCache>(narrow_bf16(low, high), PairTag(), to);
  }
};

template <>
struct Element<ElementType::f16> {
  using Stored = uint16_t;
  static HWY_INLINE FloatVec load(const Stored* from) { return widen_f16(from); }
  template <bool kPastCache>
  static HWY_INLINE void store(FloatVec low, FloatVec high, Stored* to) {
    put<kPastCache>(hn::Combine(PairTag(), narrow_f16(high), narrow_f16(low)), PairTag(), to);
  }
};

/// Two vectors of elements in whatever order is cheap for the type.
template <ElementType kType>
struct UnorderedPair {
  using E = Element<kType>;
  static HWY_INLINE FloatPair load(const typename E::Stored* from) {
    return {E::load(from), E::load(from + hn::Lanes(FloatTag()))};
  }
  template <bool kPastCache>
  static HWY_INLINE void store(const FloatPair& v, typename E::Stored* to) {
    E::template store<kPastCache>(v[0], v[1], to);
  }
};

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
/// The even ones and the odd ones.
template <>
struct UnorderedPair<ElementType::bf16> {
  static HWY_INLINE FloatPair load(const uint16_t* from) {
    const __m512i x = _mm512_loadu_si512(from);
    return {FloatVec{_mm512_castsi512_ps(_mm512_slli_epi32(x, 16))},
            FloatVec{_mm512_castsi512_ps(_mm512_and_si512(x, upper_halves()))}};
  }
  template <bool kPastCache>
  static HWY_INLINE void store(const FloatPair& v, uint16_t* to) {
    constexpr int kSelect = 0xD8;  // of three: the third one's bits pick the second, else the first
    const __m512i even = _mm512_castps_si512(v[0].raw);
    const __m512i odd = _mm512_castps_si512(v[1].raw);
    const __m512i upper =
        _mm512_ternarylogic_epi32(_mm512_srli_epi32(even, 16), odd, upper_halves(), kSelect);
    const __m512i lower =
        _mm512_ternarylogic_epi32(even, _mm512_slli_epi32(odd, 16), upper_halves(), kSelect);
    put<kPastCache>(round_halves(upper, lower), PairTag(), to);
  }

 private:
  static HWY_INLINE __m512i upper_halves() {
    return _mm512_set1_epi32(static_cast<int>(0xFFFF0000u));
  }
};
#endif

HWY_INLINE int64_t lane_count() {
  return static_cast<int64_t>(hn::Lanes(FloatTag()));
}

HWY_INLINE FloatPair load_pair(const float* from) {
  return {hn::LoadU(FloatTag(), from), hn::LoadU(FloatTag(), from + lane_count())};
}

template <ElementType kType>
void load_block(const void* from, float* x) {
  using E = Element<kType>;
  const auto* source = static_cast<const typename E::Stored*>(from);
  for (int64_t i = 0; i < kBlock; i += lane_count()) {
    hn::Store(E::load(source + i), FloatTag(), x + i);
  }
}

template <ElementType kType, bool kPastCache>
void store_block(const float* y, void* to) {
  using E = Element<kType>;
  auto* target = static_cast<typename E::Stored*>(to);
  for (int64_t i = 0; i < kBlock; i += 2 * lane_count()) {
    const FloatVec low = hn::Load(FloatTag(), y + i);
    const FloatVec high = hn::Load(FloatTag(), y + i + lane_count());
    E::template store<kPastCache>(low, high, target + i);
  }
}

/// Doubles as floats that compare with thresholds as they do; `kEven`: their absolute values.
template <bool kEven>
void load_doubles(const void* from, float* x) {
  for (int64_t i = 0; i < kBlock; ++i) {
    double value = 0.0;
    std::memcpy(&value, static_cast<const uint8_t*>(from) + 8 * i, 8);
    x[i] = float_not_below(kEven ? std::fabs(value) : value);
  }
}

/// Has lines fetched that are worked on next; what is beyond the end of a buffer does no harm. Of
/// lines that are written too: few stores can wait for theirs.
HWY_INLINE void prefetch(const uint8_t* first, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += 64) hwy::Prefetch(first + i);
}

/// The same for what a pass that is at `first` comes to later: by itself the processor stops at the
/// end of every page, and loops of some length have it wait there.
HWY_INLINE void prefetch_ahead(const void* first, int64_t bytes) {
  constexpr int64_t kPage = 4096;
  prefetch(static_cast<const uint8_t*>(first) + kPage, bytes);
}

/// Whether a pass should store past the caches: large, aligned for it, and not in place (then the
/// lines are in the cache anyway).
inline bool stores_past_cache(const Range& range, ElementType type, const void* in,
                              const void* out) {
  const bool is_aligned = reinterpret_cast<uintptr_t>(out) % 64 == 0;
  return in != out && is_aligned && 2 * range.count * element_bytes(type) >= kPastCacheBytes;
}

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
