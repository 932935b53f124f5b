// Affine maps of a group's elements by their classes. Included once per instruction set.
#if defined(FEWBIT_CLASS_MAP_INL) == defined(HWY_TARGET_TOGGLE)
#if defined(FEWBIT_CLASS_MAP_INL)
#undef FEWBIT_CLASS_MAP_INL
#else
#define FEWBIT_CLASS_MAP_INL
#endif

#include <algorithm>
#include <cstring>

#include "kernels/quantizer/cpu/magnitude-inl.hpp"
#include "kernels/quantizer/element_classes.hpp"
#include "kernels/quantizer/rotated.hpp"
#include "kernels/stream/cpu/bits-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

/// What elements are multiplied by, and what is added.
struct ScaleShift {
  FloatVec scale, shift;
};

/// Of the elements from `first` on, whose codes take up to kBits bits.
template <int kBits>
HWY_INLINE ScaleShift of_classes(const ElementClasses& classes, const UnpackPlan& plan,
                                 const uint8_t* codes, int64_t first) {
  const ClassMap& map = classes.map;
  if constexpr (kBits == 1) {
    const auto of = [&](const float* two) HWY_ATTR {
      return chosen(codes, first, hn::Set(FloatTag(), two[1]), hn::Set(FloatTag(), two[0]));
    };
    return {of(map.scale), of(map.shift)};
  } else {
    constexpr int kCount = std::min(1 << kBits, kMostClasses);
    const IntVec code = hn::And(
        unpack(plan, codes + first / 16 * 2 * classes.bits, static_cast<size_t>(first % 16)),
        hn::Set(IntTag(), kCount - 1));
    return {look_up<kCount>(map.scale, code), look_up<kCount>(map.shift, code)};
  }
}

/// Maps groups of a run.
class GroupMap {
 public:
  GroupMap(const ElementClasses& classes, const RotatedFormat& format)
      : classes_(classes),
        unpack_(classes.bits),
        group_(format.group),
        stream_bytes_(code_bytes(format.count, classes.bits)) {}

  /// The first `count` elements of group `index`, floats, in place, no further from 0 than `limit`
  /// (a NaN stays one); zeros behind them.
  void map(int64_t index, int64_t count, float limit, float* x) const {
    const int64_t first = index * group_ / 8 * classes_.bits;
    const int64_t bytes = group_ / 8 * classes_.bits;
    const uint8_t* codes = classes_.codes + first;
    uint8_t ended[kMostRotated + 16];
    if (first + bytes + 16 > stream_bytes_) {  // what is read beyond them has to be there
      std::memset(ended, 0, sizeof(ended));
      std::memcpy(ended, codes, static_cast<size_t>(std::min(bytes, stream_bytes_ - first)));
      codes = ended;
    }
    if (classes_.bits == 1) {
      run<1>(codes, limit, x);
    } else if (classes_.bits <= 3) {
      run<3>(codes, limit, x);
    } else if (classes_.bits == 4) {
      run<4>(codes, limit, x);
    } else {
      run<8>(codes, limit, x);
    }
    std::fill(x + count, x + group_, 0.0f);
  }

 private:
  template <int kBits>
  HWY_INLINE void run(const uint8_t* codes, float limit, float* x) const {
    const FloatTag d;
    const FloatVec most = hn::Set(d, limit), least = hn::Neg(most);
    for (int64_t i = 0; i < group_; i += lane_count()) {
      const ScaleShift of = of_classes<kBits>(classes_, unpack_, codes, i);
      const FloatVec v = hn::Add(hn::Mul(hn::Load(d, x + i), of.scale), of.shift);
      hn::Store(max_or_nan(least, min_or_nan(most, v)), d, x + i);
    }
  }

  const ElementClasses& classes_;
  UnpackPlan unpack_;
  int64_t group_;
  int64_t stream_bytes_;
};

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
