// Values by SegmentTable. Included once per instruction set.
#if defined(FEWBIT_SEGMENTS_INL) == defined(HWY_TARGET_TOGGLE)
#if defined(FEWBIT_SEGMENTS_INL)
#undef FEWBIT_SEGMENTS_INL
#else
#define FEWBIT_SEGMENTS_INL
#endif

#include <utility>

#include "kernels/cpu/elements-inl.hpp"
#include "kernels/cpu/segments.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

/// One of 32 floats for every lane; only the low 5 bits of an index count.
class Table32 {
 public:
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  HWY_INLINE explicit Table32(const float* table)
      : low_(hn::Load(FloatTag(), table)), high_(hn::Load(FloatTag(), table + 16)) {}

  HWY_INLINE FloatVec operator()(hn::Vec<IntTag> index) const {
    return FloatVec{_mm512_permutex2var_ps(low_.raw, index.raw, high_.raw)};
  }

 private:
  FloatVec low_;
  FloatVec high_;
#else
  HWY_INLINE explicit Table32(const float* table) : table_(table) {}

  HWY_INLINE FloatVec operator()(hn::Vec<IntTag> index) const {
    return hn::GatherIndex(FloatTag(), table_, hn::And(index, hn::Set(IntTag(), 31)));
  }

 private:
  const float* table_;
#endif
};

/// The tables of a polynomial's coefficients, in registers where those hold vectors by value.
template <class Indices>
struct Coefficients;

template <size_t... K>
struct Coefficients<std::index_sequence<K...>> {
  Table32 of[sizeof...(K)];
  HWY_INLINE explicit Coefficients(const SegmentTable& table)
      : of{Table32(table.coefficient[K])...} {}
  HWY_INLINE const Table32& operator[](int k) const { return of[k]; }
};

/// Adding it leaves the nearest integer in the low bits.
inline constexpr float kMagic = 0x1.8p+23f;

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

/// The constants of a table, spread over the lanes.
template <int kDegree>
class SegmentFunction {
 public:
  HWY_INLINE explicit SegmentFunction(const SegmentTable& table)
      : c_(table),
        width_(hn::Set(FloatTag(), table.width)),
        per_width_(hn::Set(FloatTag(), 1.0f / table.width)),
        low_(hn::Set(FloatTag(), table.low())),
        high_(hn::Set(FloatTag(), table.high())) {}

  template <SegmentKind kKind>
  HWY_INLINE FloatVec value(FloatVec v) const {
    // A gate may take its limit for a NaN.
    if constexpr (kKind == SegmentKind::odd) {
      return hn::CopySign(polynomial(min_or_nan(high_, hn::Abs(v))), v);
    }
    const FloatVec above = max_or_nan(low_, v);
    return hn::Mul(polynomial(hn::Min(above, high_)), above);
  }

 private:
  HWY_INLINE FloatVec polynomial(FloatVec at) const {
    const FloatVec magic = hn::Set(FloatTag(), kMagic);
    const FloatVec cell = hn::MulAdd(at, per_width_, magic);
    const auto index = hn::BitCast(IntTag(), cell);
    const FloatVec u = hn::NegMulAdd(hn::Sub(cell, magic), width_, at);
    FloatVec p = c_[kDegree](index);
    for (int k = kDegree - 1; k >= 0; --k) p = hn::MulAdd(p, u, c_[k](index));
    return p;
  }

  Coefficients<std::make_index_sequence<kDegree + 1>> c_;
  FloatVec width_;
  FloatVec per_width_;
  FloatVec low_;
  FloatVec high_;
};

/// y = f(x) for a block of floats, from and to memory.
template <int kDegree, SegmentKind kKind, bool kPastCache>
void value_by_segments(const SegmentTable& table, const void* x, void* y) {
  const SegmentFunction<kDegree> f(table);
  const auto* from = static_cast<const float*>(x);
  auto* to = static_cast<float*>(y);
  for (int64_t i = 0; i < kBlock; i += lane_count()) {
    const FloatVec v = hn::LoadU(FloatTag(), from + i);
    put<kPastCache>(f.template value<kKind>(v), FloatTag(), to + i);
  }
}

using SegmentStage = void(const SegmentTable& table, const void* x, void* y);

template <bool kPastCache, SegmentKind kKind, int kDegree = SegmentTable::kMinDegree>
SegmentStage* stage_of_kind(const SegmentTable& table) {
  if constexpr (kDegree < SegmentTable::kMaxDegree) {
    if (table.degree > kDegree) return stage_of_kind<kPastCache, kKind, kDegree + 1>(table);
  }
  return value_by_segments<kDegree, kKind, kPastCache>;
}

template <bool kPastCache>
SegmentStage* segment_stage(const SegmentTable& table) {
  return table.kind == SegmentKind::gate ? stage_of_kind<kPastCache, SegmentKind::gate>(table)
                                         : stage_of_kind<kPastCache, SegmentKind::odd>(table);
}

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
