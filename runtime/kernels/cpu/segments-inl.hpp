// Values by SegmentTable. Included once per instruction set.
#if defined(FEWBIT_SEGMENTS_INL) == defined(HWY_TARGET_TOGGLE)
#if defined(FEWBIT_SEGMENTS_INL)
#undef FEWBIT_SEGMENTS_INL
#else
#define FEWBIT_SEGMENTS_INL
#endif

#include <cmath>
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

/// Where f is flat: on the left, growing as x on the right; on both sides; or any other table.
enum class Sides { flat_and_linear, flat, any };

/// The constants of a table, spread over the lanes.
template <int kDegree>
class SegmentFunction {
 public:
  HWY_INLINE explicit SegmentFunction(const SegmentTable& table)
      : c_(table),
        width_(hn::Set(FloatTag(), table.width)),
        per_width_(hn::Set(FloatTag(), 1.0f / table.width)),
        first_(hn::Set(FloatTag(), -16.0f * table.width)),
        last_(hn::Set(FloatTag(), 15.0f * table.width)),
        low_(hn::Set(FloatTag(), table.low)),
        high_(hn::Set(FloatTag(), table.high)) {}

  template <Sides kSides>
  HWY_INLINE FloatVec value(FloatVec v) const {
    // Of a NaN and a number, x86 takes the second operand: the NaN stays.
    if constexpr (kSides == Sides::any) {
      const FloatVec at = hn::Min(high_, hn::Max(low_, v));
      return keep_infinity(at, polynomial(hn::Min(hn::Max(v, first_), last_), at));
    }
    const FloatVec above = hn::Max(first_, v);
    if constexpr (kSides == Sides::flat) {
      const FloatVec at = hn::Min(high_, above);
      return polynomial(at, at);
    }
    return keep_infinity(above, polynomial(hn::Min(above, last_), above));
  }

 private:
  HWY_INLINE FloatVec polynomial(FloatVec clamped, FloatVec at) const {
    const FloatVec magic = hn::Set(FloatTag(), kMagic);
    const FloatVec cell = hn::MulAdd(clamped, per_width_, magic);
    const auto index = hn::BitCast(IntTag(), cell);
    const FloatVec u = hn::NegMulAdd(hn::Sub(cell, magic), width_, at);
    FloatVec p = c_[kDegree](index);
    for (int k = kDegree - 1; k >= 0; --k) p = hn::MulAdd(p, u, c_[k](index));
    return p;
  }

  /// Where f goes to infinity it goes there as x does, and 0 times infinity is no limit.
  static HWY_INLINE FloatVec keep_infinity(FloatVec at, FloatVec p) {
    return hn::IfThenElse(hn::IsInf(at), at, p);
  }

  Coefficients<std::make_index_sequence<kDegree + 1>> c_;
  FloatVec width_;
  FloatVec per_width_;
  FloatVec first_;
  FloatVec last_;
  FloatVec low_;
  FloatVec high_;
};

/// y = f(x) for a block, from and to memory.
template <ElementType kType, int kDegree, Sides kSides, bool kPastCache>
void value_by_segments(const SegmentTable& table, const void* x, void* y) {
  using E = Element<kType>;
  const SegmentFunction<kDegree> f(table);
  const auto* from = static_cast<const typename E::Stored*>(x);
  auto* to = static_cast<typename E::Stored*>(y);
  for (int64_t i = 0; i < kBlock; i += 2 * lane_count()) {
    const FloatVec y0 = f.template value<kSides>(E::load(from + i));
    const FloatVec y1 = f.template value<kSides>(E::load(from + i + lane_count()));
    E::template store<kPastCache>(y0, y1, to + i);
  }
}

using SegmentStage = void(const SegmentTable& table, const void* x, void* y);

template <ElementType kType, int kDegree, bool kPastCache>
SegmentStage* segment_stage(const SegmentTable& table) {
  const bool is_left_flat = std::isfinite(table.low);
  const bool is_right_flat = std::isfinite(table.high);
  if (!is_left_flat) return value_by_segments<kType, kDegree, Sides::any, kPastCache>;
  if (is_right_flat) return value_by_segments<kType, kDegree, Sides::flat, kPastCache>;
  return value_by_segments<kType, kDegree, Sides::flat_and_linear, kPastCache>;
}

template <ElementType kType, bool kPastCache>
SegmentStage* segment_stage(const SegmentTable& table) {
  static_assert(SegmentTable::kMinDegree == 6 && SegmentTable::kMaxDegree == 8);
  if (table.degree == 6) return segment_stage<kType, 6, kPastCache>(table);
  if (table.degree == 7) return segment_stage<kType, 7, kPastCache>(table);
  return segment_stage<kType, 8, kPastCache>(table);
}

/// Null where the table does not hold a function or the type is not one that it serves.
template <bool kPastCache>
SegmentStage* segment_stage(const SegmentTable& table, ElementType type) {
  if (table.degree == 0 || type == ElementType::f64) return nullptr;
  if (type == ElementType::f32) return segment_stage<ElementType::f32, kPastCache>(table);
  if (type == ElementType::bf16) return segment_stage<ElementType::bf16, kPastCache>(table);
  return segment_stage<ElementType::f16, kPastCache>(table);
}

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
