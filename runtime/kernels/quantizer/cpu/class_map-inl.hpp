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

/// Of codes of up to kBits bits.
template <int kBits>
HWY_INLINE FloatVec of_class(const float* table, IntVec code) {
  constexpr int kCount = std::min(1 << kBits, kMostClasses);
  return look_up<kCount>(table, hn::And(code, hn::Set(IntTag(), kCount - 1)));
}

/// Maps groups of a run.
class GroupMap {
 public:
  GroupMap(const ElementClasses& classes, const RotatedFormat& format)
      : classes_(classes),
        unpack_(classes.bits),
        group_(format.group),
        stream_bytes_(code_bytes(format.count, classes.bits)) {}

  /// The first `count` elements of group `index`, floats, in place; zeros behind them.
  void map(int64_t index, int64_t count, float* x) const {
    const int64_t first = index * group_ / 8 * classes_.bits;
    const int64_t bytes = group_ / 8 * classes_.bits;
    const uint8_t* codes = classes_.codes + first;
    uint8_t ended[kMostRotated + 16];
    if (first + bytes + 16 > stream_bytes_) {  // what is read beyond them has to be there
      std::memset(ended, 0, sizeof(ended));
      std::memcpy(ended, codes, static_cast<size_t>(std::min(bytes, stream_bytes_ - first)));
      codes = ended;
    }
    if (classes_.bits <= 3) {
      run<3>(codes, x);
    } else if (classes_.bits == 4) {
      run<4>(codes, x);
    } else {
      run<8>(codes, x);
    }
    std::fill(x + count, x + group_, 0.0f);
  }

 private:
  template <int kBits>
  HWY_INLINE void run(const uint8_t* codes, float* x) const {
    const FloatTag d;
    for (int64_t i = 0; i < group_; i += lane_count()) {
      const IntVec code =
          unpack(unpack_, codes + i / 16 * 2 * classes_.bits, static_cast<size_t>(i % 16));
      hn::Store(hn::Add(hn::Mul(hn::Load(d, x + i), of_class<kBits>(classes_.map.scale, code)),
                        of_class<kBits>(classes_.map.shift, code)),
                d, x + i);
    }
  }

  const ElementClasses& classes_;
  UnpackPlan unpack_;
  int64_t group_;
  int64_t stream_bytes_;
};

/// No further from 0 than `limit`; a NaN stays one.
HWY_INLINE void limit_floats(float limit, int64_t count, float* x) {
  const FloatTag d;
  const FloatVec most = hn::Set(d, limit), least = hn::Neg(most);
  for (int64_t i = 0; i < count; i += lane_count()) {
    hn::Store(max_or_nan(least, min_or_nan(most, hn::Load(d, x + i))), d, x + i);
  }
}

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
