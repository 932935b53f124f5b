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
  explicit Table32(const float* table)
      : low_(hn::Load(FloatTag(), table)), high_(hn::Load(FloatTag(), table + 16)) {}

  FloatVec operator()(hn::Vec<IntTag> index) const {
    return FloatVec{_mm512_permutex2var_ps(low_.raw, index.raw, high_.raw)};
  }

 private:
  FloatVec low_;
  FloatVec high_;
#else
  explicit Table32(const float* table) : table_(table) {}

  FloatVec operator()(hn::Vec<IntTag> index) const {
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
  explicit Coefficients(const SegmentTable& table) : of{Table32(table.coefficient[K])...} {}
  const Table32& operator[](int k) const { return of[k]; }
};

/// Adding it leaves the nearest integer in the low bits.
inline constexpr float kMagic = 0x1.8p+23f;

/// y = f(x) for a block.
template <int kDegree>
void value_by_segments(const SegmentTable& table, const float* x, float* y) {
  const FloatTag d;
  const FloatVec width = hn::Set(d, table.width);
  const FloatVec per_width = hn::Set(d, 1.0f / table.width);
  const FloatVec first = hn::Set(d, -16.0f * table.width);
  const FloatVec last = hn::Set(d, 15.0f * table.width);
  const FloatVec low = hn::Set(d, table.low);
  const FloatVec high = hn::Set(d, table.high);
  const FloatVec magic = hn::Set(d, kMagic);
  const Coefficients<std::make_index_sequence<kDegree + 1>> c(table);
  for (int64_t i = 0; i < kBlock; i += lane_count()) {
    const FloatVec v = hn::LoadU(d, x + i);
    // Of a NaN and a number, x86 takes the second operand: the NaN stays.
    const FloatVec at = hn::Min(high, hn::Max(low, v));
    const FloatVec cell = hn::MulAdd(hn::Min(hn::Max(v, first), last), per_width, magic);
    const auto index = hn::BitCast(IntTag(), cell);
    const FloatVec u = hn::NegMulAdd(hn::Sub(cell, magic), width, at);
    FloatVec p = c[kDegree](index);
    for (int k = kDegree - 1; k >= 0; --k) p = hn::MulAdd(p, u, c[k](index));
    // Where f goes to infinity it goes there as x does, and 0 times infinity is no limit.
    hn::Store(hn::IfThenElse(hn::IsInf(at), at, p), d, y + i);
  }
}

using SegmentStage = void(const SegmentTable& table, const float* x, float* y);

/// Null where the table does not hold a function.
inline SegmentStage* segment_stage(const SegmentTable& table) {
  switch (table.degree) {
    case 4:
      return value_by_segments<4>;
    case 5:
      return value_by_segments<5>;
    case 6:
      return value_by_segments<6>;
    case 7:
      return value_by_segments<7>;
    case 8:
      return value_by_segments<8>;
    default:
      return nullptr;
  }
}

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
