// Values by Lines. Included once per instruction set.
#if defined(FEWBIT_LINES_INL) == defined(HWY_TARGET_TOGGLE)
#if defined(FEWBIT_LINES_INL)
#undef FEWBIT_LINES_INL
#else
#define FEWBIT_LINES_INL
#endif

#include "kernels/activation/cpu/float_plan.hpp"
#include "kernels/stream/cpu/elements-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

template <int kDegree, int kPieces>
class LineFunction {
 public:
  HWY_INLINE explicit LineFunction(const FloatPlan& plan)
      : LineFunction(std::get<Lines>(*plan.fit)) {}
  HWY_INLINE explicit LineFunction(const Lines& lines)
      : left_end_(spread(lines.left_end)), right_begin_(spread(lines.right_begin)) {
    for (int power = 0; power <= kDegree; ++power) {
      left_[power] = spread(lines.c[Lines::kLeft][power]);
      middle_[power] = spread(lines.c[Lines::kMiddle][power]);
      right_[power] = spread(lines.c[Lines::kRight][power]);
      low_[power] = spread(lines.low[power]);
      high_[power] = spread(lines.high[power]);
    }
  }

  /// Each of v to its value.
  HWY_INLINE void operator()(FloatPair& v) const {
    for_pair([&](int i) HWY_ATTR {
      const FloatVec x = v[i];
      const auto coefficient = [&](int power) HWY_ATTR {
        FloatVec c = middle_[power];
        if constexpr (kPieces > 1) c = hn::IfThenElse(hn::Le(x, left_end_), left_[power], c);
        if constexpr (kPieces > 2) c = hn::IfThenElse(hn::Ge(x, right_begin_), right_[power], c);
        return c;
      };
      const auto bounded = [&](int power) HWY_ATTR {
        return min_or_nan(high_[power], max_or_nan(low_[power], x));
      };
      const FloatVec at = bounded(1);
      FloatVec slope = coefficient(1);
      if constexpr (kDegree == 2) {
        // One piece is flat on a side or not, for both powers.
        slope = hn::MulAdd(coefficient(2), kPieces == 1 ? at : bounded(2), slope);
      }
      v[i] = hn::MulAdd(slope, at, coefficient(0));
    });
  }

 private:
  static HWY_INLINE FloatVec spread(float value) { return hn::Set(FloatTag(), value); }

  FloatVec left_end_;
  FloatVec right_begin_;
  FloatVec left_[kDegree + 1];
  FloatVec middle_[kDegree + 1];
  FloatVec right_[kDegree + 1];
  FloatVec low_[kDegree + 1];
  FloatVec high_[kDegree + 1];
};

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
