// Values by SegmentTable. Included once per instruction set.
#if defined(FEWBIT_SEGMENTS_INL) == defined(HWY_TARGET_TOGGLE)
#if defined(FEWBIT_SEGMENTS_INL)
#undef FEWBIT_SEGMENTS_INL
#else
#define FEWBIT_SEGMENTS_INL
#endif

#include <utility>

#include "kernels/activation/cpu/float_plan.hpp"
#include "kernels/stream/cpu/look_up-inl.hpp"

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
    return look_up<32>(table_, hn::And(index, hn::Set(IntTag(), 31)));
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

/// The constants of a table, spread over the lanes.
template <int kDegree, SegmentKind kKind>
class SegmentFunction {
 public:
  HWY_INLINE explicit SegmentFunction(const FloatPlan& plan)
      : SegmentFunction(std::get<SegmentTable>(*plan.fit)) {}
  HWY_INLINE explicit SegmentFunction(const SegmentTable& table)
      : c_(table),
        width_(hn::Set(FloatTag(), table.width)),
        per_width_(hn::Set(FloatTag(), 1.0f / table.width)),
        low_(hn::Set(FloatTag(), table.low())),
        high_(hn::Set(FloatTag(), table.high())) {}

  /// Each of v to its value.
  HWY_INLINE void operator()(FloatPair& v) const {
    constexpr bool kIsGate = kKind == SegmentKind::gate;
    FloatPair x;
    FloatPair at;
    for_pair([&](int i) HWY_ATTR { x[i] = kIsGate ? max_or_nan(low_, v[i]) : hn::Abs(v[i]); });
    // A gate may take its limit for a NaN.
    for_pair([&](int i)
                 HWY_ATTR { at[i] = kIsGate ? hn::Min(x[i], high_) : min_or_nan(high_, x[i]); });
    polynomial(at);
    for_pair([&](int i)
                 HWY_ATTR { v[i] = kIsGate ? hn::Mul(at[i], x[i]) : hn::CopySign(at[i], v[i]); });
  }

 private:
  HWY_INLINE void polynomial(FloatPair& at) const {
    const FloatVec magic = hn::Set(FloatTag(), kMagic);
    FloatPair cell;
    FloatPair u;
    FloatPair p;
    const auto coefficient = [&](int k, int i)
                                 HWY_ATTR { return c_[k](hn::BitCast(IntTag(), cell[i])); };
    for_pair([&](int i) HWY_ATTR { cell[i] = hn::MulAdd(at[i], per_width_, magic); });
    for_pair([&](int i) HWY_ATTR {
      u[i] = hn::NegMulAdd(hn::Sub(cell[i], magic), width_, at[i]);
      p[i] = coefficient(kDegree, i);
    });
    for (int k = kDegree - 1; k >= 0; --k) {
      for_pair([&](int i) HWY_ATTR { p[i] = hn::MulAdd(p[i], u[i], coefficient(k, i)); });
    }
    for_pair([&](int i) HWY_ATTR { at[i] = p[i]; });
  }

  Coefficients<std::make_index_sequence<kDegree + 1>> c_;
  FloatVec width_;
  FloatVec per_width_;
  FloatVec low_;
  FloatVec high_;
};

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
