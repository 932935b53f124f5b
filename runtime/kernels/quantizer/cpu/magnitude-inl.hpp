// The symmetric table of a quantizer: |u| to a place among the positive levels, and back. Included
// once per instruction set.
#if defined(FEWBIT_MAGNITUDE_INL) == defined(HWY_TARGET_TOGGLE)
#if defined(FEWBIT_MAGNITUDE_INL)
#undef FEWBIT_MAGNITUDE_INL
#else
#define FEWBIT_MAGNITUDE_INL
#endif

#include <algorithm>

#include "generated/normal_quantizer.hpp"
#include "kernels/stream/cpu/look_up-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

/// The best table for N(0, 1) of so many bits, as Magnitudes looks things up.
struct MagnitudeTable {
  HWY_ALIGN float levels[128] = {};
  /// By code, below zero first, of codes of up to kMostDirect bits.
  static constexpr int kMostDirect = 5;
  HWY_ALIGN float of_code[1 << kMostDirect] = {};
  /// The thresholds of a bisection: row d has one for each of its 2^d paths so far.
  HWY_ALIGN float tree[7][64] = {};

  explicit MagnitudeTable(int bits) {
    const generated::NormalQuantizer& table = generated::normal_quantizer(bits);
    const int count = 1 << (bits - 1);
    std::copy_n(table.levels, count, levels);
    for (int i = 0; i < count && bits <= kMostDirect; ++i) {
      of_code[count + i] = table.levels[i];
      of_code[count - 1 - i] = -table.levels[i];
    }
    for (int depth = 0; depth < bits - 1; ++depth) {
      const int step = count >> depth;
      for (int i = 0; i < 1 << depth; ++i) {
        tree[depth][i] = table.thresholds[i * step + step / 2 - 1];
      }
    }
  }
};

template <int kBits>
class Magnitudes {
 public:
  HWY_INLINE explicit Magnitudes(const MagnitudeTable& table) : table_(table) {}

  /// How many thresholds lie below u.
  HWY_INLINE IntVec place(FloatVec u) const { return passed<0>(u, hn::Zero(IntTag())); }

  HWY_INLINE FloatVec level(IntVec place) const {
    return look_up<1 << (kBits - 1)>(table_.levels, place);
  }

  /// With its sign.
  HWY_INLINE FloatVec level_of_code(IntVec code) const {
    if constexpr (kBits <= MagnitudeTable::kMostDirect) {
      return look_up<1 << kBits>(table_.of_code, code);
    } else {
      const FloatTag d;
      const IntTag di;
      const auto is_below = hn::Lt(code, hn::Set(di, 1 << (kBits - 1)));
      const IntVec place = hn::And(hn::IfThenElse(is_below, hn::Not(code), code),
                                   hn::Set(di, (1 << (kBits - 1)) - 1));
      const FloatVec size = level(place);
      return hn::IfThenElse(hn::RebindMask(d, is_below), hn::Neg(size), size);
    }
  }

 private:
  template <int kDepth>
  HWY_INLINE IntVec passed(FloatVec u, IntVec path) const {
    if constexpr (kDepth == kBits - 1) {
      return path;
    } else {
      const IntTag di;
      const FloatVec threshold = look_up<1 << kDepth>(table_.tree[kDepth], path);
      const auto is_above = hn::RebindMask(di, hn::Gt(u, threshold));
      const IntVec left = hn::Add(path, path);
      return passed<kDepth + 1>(u, hn::IfThenElse(is_above, hn::Add(left, hn::Set(di, 1)), left));
    }
  }

  const MagnitudeTable& table_;
};

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
