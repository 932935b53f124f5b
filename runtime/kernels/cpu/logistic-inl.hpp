// Values by Logistic. Included once per instruction set.
#if defined(FEWBIT_LOGISTIC_INL) == defined(HWY_TARGET_TOGGLE)
#if defined(FEWBIT_LOGISTIC_INL)
#undef FEWBIT_LOGISTIC_INL
#else
#define FEWBIT_LOGISTIC_INL
#endif

#include "kernels/cpu/elements-inl.hpp"
#include "kernels/cpu/float_plan.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

/// p 2^n for p in [1, 2] and whole or infinite n, rounded once; NaN where n is.
HWY_INLINE FloatVec times_power_of_two(FloatVec p, FloatVec n) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  // An infinite n decides alone, even if p is NaN.
  return FloatVec{_mm512_scalef_ps(p.raw, n.raw)};
#else
  // In two steps, of which the first is exact.
  const FloatTag d;
  const IntTag di;
  const auto whole = hn::ConvertTo(di, n);
  const auto half = hn::ShiftRight<1>(whole);
  const auto power = [&](hn::Vec<IntTag> of) HWY_ATTR {
    return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(of, hn::Set(di, 127))));
  };
  return hn::Mul(hn::Mul(p, power(half)), power(hn::Sub(whole, half)));
#endif
}

/// Each t to 2^t, relative error 2^-23 + 2^-24 |t|; NaN stays. Every instruction set gives the
/// same.
HWY_INLINE void power_of_two(FloatPair& t) {
  const FloatTag d;
  FloatPair n;
  FloatPair r;
  FloatPair p;
  for_pair([&](int i) HWY_ATTR {
#if !(HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86)
    // Beyond these the result is infinite or 0.
    t[i] = min_or_nan(hn::Set(d, 160.0f), max_or_nan(hn::Set(d, -160.0f), t[i]));
#endif
    n[i] = hn::Floor(t[i]);
  });
  for_pair([&](int i) HWY_ATTR {
    r[i] = hn::Sub(t[i], n[i]);
    p[i] = hn::Set(d, 0x1.c4456ep-13f);
  });
  // 2^r on [0, 1], to 2e-9 of it.
  for (const float c :
       {0x1.47373ap-10f, 0x1.3cfd82p-7f, 0x1.c68af6p-5f, 0x1.ebfd3ap-3f, 0x1.62e42cp-1f, 1.0f}) {
    for_pair([&](int i) HWY_ATTR { p[i] = hn::MulAdd(p[i], r[i], hn::Set(d, c)); });
  }
  for_pair([&](int i) HWY_ATTR { t[i] = times_power_of_two(p[i], n[i]); });
}

template <bool kIsGate>
class LogisticFunction {
 public:
  HWY_INLINE explicit LogisticFunction(const FloatPlan& plan)
      : rate_(hn::Set(FloatTag(), -plan.logistic->rate)),
        // Below it e^(-a x) is infinite, but x is not.
        low_(hn::Set(FloatTag(), -140.0f / plan.logistic->rate)) {}

  /// Each of v to its value.
  HWY_INLINE void operator()(FloatPair& v) const {
    const FloatVec one = hn::Set(FloatTag(), 1.0f);
    FloatPair e;
    if constexpr (kIsGate) {
      for_pair([&](int i) HWY_ATTR {
        v[i] = max_or_nan(low_, v[i]);
        e[i] = hn::Mul(v[i], rate_);
      });
      power_of_two(e);
      for_pair([&](int i) HWY_ATTR { v[i] = hn::Div(v[i], hn::Add(one, e[i])); });
    } else {
      // By the side where e^-|a x| <= 1, which loses less in the sum.
      for_pair([&](int i) HWY_ATTR { e[i] = hn::Mul(hn::Abs(v[i]), rate_); });
      power_of_two(e);
      for_pair([&](int i) HWY_ATTR {
        v[i] = hn::Div(hn::IfNegativeThenElse(v[i], e[i], one), hn::Add(one, e[i]));
      });
    }
  }

 private:
  FloatVec rate_;
  FloatVec low_;
};

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
