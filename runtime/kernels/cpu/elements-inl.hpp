// The load and store stages of each type. Included once per instruction set.
#if defined(FEWBIT_ELEMENTS_INL) == defined(HWY_TARGET_TOGGLE)
#if defined(FEWBIT_ELEMENTS_INL)
#undef FEWBIT_ELEMENTS_INL
#else
#define FEWBIT_ELEMENTS_INL
#endif

#include <cmath>
#include <cstring>

#include <hwy/highway.h>

#include "kernels/cpu/half.hpp"
#include "kernels/cpu/stages.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::CappedTag<float, 16>;
using IntTag = hn::Rebind<int32_t, FloatTag>;
using UnsignedTag = hn::Rebind<uint32_t, FloatTag>;
using HalfTag = hn::Rebind<uint16_t, FloatTag>;
using ByteTag = hn::Rebind<uint8_t, FloatTag>;
using FloatVec = hn::Vec<FloatTag>;

template <ElementType kType>
struct Element;

template <>
struct Element<ElementType::f32> {
  using Stored = float;
  static FloatVec load(const Stored* from) { return hn::LoadU(FloatTag(), from); }
  using Tag = FloatTag;
  static FloatVec narrow(const float* y) { return hn::Load(Tag(), y); }
};

template <>
struct Element<ElementType::bf16> {
  using Stored = uint16_t;
  static FloatVec load(const Stored* from) {
    const UnsignedTag du;
    const auto wide = hn::PromoteTo(du, hn::LoadU(HalfTag(), from));
    return hn::BitCast(FloatTag(), hn::ShiftLeft<16>(wide));
  }
  using Tag = hn::Repartition<uint16_t, FloatTag>;
  static hn::Vec<Tag> narrow(const float* y) {
    const auto low = narrow(hn::Load(FloatTag(), y));
    const auto high = narrow(hn::Load(FloatTag(), y + hn::Lanes(FloatTag())));
    return hn::Combine(Tag(), high, low);
  }
  static hn::Vec<HalfTag> narrow(FloatVec v) {
    const UnsignedTag du;
    const auto bits = hn::BitCast(du, v);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
    const auto rounded = hn::Add(hn::Add(bits, hn::Set(du, 0x7FFF)), odd);
    const auto quiet = hn::Or(bits, hn::Set(du, 0x400000));
    const auto is_nan = hn::RebindMask(du, hn::IsNaN(v));
    return hn::TruncateTo(HalfTag(), hn::ShiftRight<16>(hn::IfThenElse(is_nan, quiet, rounded)));
  }
};

template <>
struct Element<ElementType::f16> {
  using Stored = uint16_t;
  static FloatVec load(const Stored* from) {
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
    const hn::Rebind<hwy::float16_t, FloatTag> dh;
    return hn::PromoteTo(FloatTag(), hn::BitCast(dh, hn::LoadU(HalfTag(), from)));
#else
    HWY_ALIGN float wide[16];
    for (size_t i = 0; i < hn::Lanes(FloatTag()); ++i) wide[i] = float_from_f16(from[i]);
    return hn::Load(FloatTag(), wide);
#endif
  }
  using Tag = hn::Repartition<uint16_t, FloatTag>;
  static hn::Vec<Tag> narrow(const float* y) {
    const auto low = narrow(hn::Load(FloatTag(), y));
    const auto high = narrow(hn::Load(FloatTag(), y + hn::Lanes(FloatTag())));
    return hn::Combine(Tag(), high, low);
  }
  static hn::Vec<HalfTag> narrow(FloatVec v) {
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
    const hn::Rebind<hwy::float16_t, FloatTag> dh;
    return hn::BitCast(HalfTag(), hn::DemoteTo(dh, v));
#else
    HWY_ALIGN float wide[16];
    HWY_ALIGN uint16_t half[16];
    hn::Store(v, FloatTag(), wide);
    for (size_t i = 0; i < hn::Lanes(FloatTag()); ++i) half[i] = f16_from_float(wide[i]);
    return hn::Load(HalfTag(), half);
#endif
  }
};

template <ElementType kType>
void load_block(const void* from, float* x) {
  using E = Element<kType>;
  const auto* source = static_cast<const typename E::Stored*>(from);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(FloatTag()));
  for (int64_t i = 0; i < kBlock; i += lanes) hn::Store(E::load(source + i), FloatTag(), x + i);
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

template <ElementType kType>
void store_block(const float* y, void* to, bool past_cache) {
  using E = Element<kType>;
  const typename E::Tag d;
  auto* target = static_cast<typename E::Stored*>(to);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  if (past_cache) {
    for (int64_t i = 0; i < kBlock; i += lanes) hn::Stream(E::narrow(y + i), d, target + i);
  } else {
    for (int64_t i = 0; i < kBlock; i += lanes) hn::StoreU(E::narrow(y + i), d, target + i);
  }
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
