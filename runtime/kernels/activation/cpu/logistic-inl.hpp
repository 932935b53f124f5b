// Values by Logistic. Included once per instruction set.
#if defined(FEWBIT_LOGISTIC_INL) == defined(HWY_TARGET_TOGGLE)
#if defined(FEWBIT_LOGISTIC_INL)
#undef FEWBIT_LOGISTIC_INL
#else
#define FEWBIT_LOGISTIC_INL
#endif

#include "kernels/activation/cpu/float_plan.hpp"
#include "kernels/stream/cpu/elements-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

/// p 2^n for p in [0.7, 1.5] and whole or infinite n, rounded once; NaN where n is.
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

/// (((last) t + ...) t + c1) t + c0 for the coefficients from the last on.
template <size_t kCount>
HWY_INLINE void polynomial(const float (&from_last)[kCount], const FloatPair& t, FloatPair& p) {
  const FloatTag d;
  for_pair([&](int i) HWY_ATTR { p[i] = hn::Set(d, from_last[0]); });
  for (size_t k = 1; k < kCount; ++k) {
    for_pair([&](int i) HWY_ATTR { p[i] = hn::MulAdd(p[i], t[i], hn::Set(d, from_last[k])); });
  }
}

/// Each t to 2^t, relative error 2^-23 + 2^-24 |t|; NaN stays. Every instruction set gives the
/// same. With kRest what the last rounding left out, in `rest`.
template <bool kRest>
HWY_INLINE void power_of_two(FloatPair& t, FloatPair& rest) {
  const FloatTag d;
  // (2^r - 1) / r on [-0.5, 0.5], to 6e-9 of 2^r.
  constexpr float kCoefficients[] = {0x1.44175ep-13f, 0x1.5ef5dp-10f, 0x1.3b2a54p-7f,
                                     0x1.c6af9cp-5f,  0x1.ebfbep-3f,  0x1.62e43p-1f};
  const FloatVec one = hn::Set(d, 1.0f);
  FloatPair n;
  FloatPair r;
  FloatPair slope;
  for_pair([&](int i) HWY_ATTR {
#if !(HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86)
    // Beyond these the result is infinite or 0.
    t[i] = min_or_nan(hn::Set(d, 160.0f), max_or_nan(hn::Set(d, -160.0f), t[i]));
#endif
    n[i] = hn::Round(t[i]);
  });
  for_pair([&](int i) HWY_ATTR { r[i] = hn::Sub(t[i], n[i]); });
  polynomial(kCoefficients, r, slope);
  for_pair([&](int i) HWY_ATTR {
    const FloatVec p = hn::MulAdd(slope[i], r[i], one);
    t[i] = times_power_of_two(p, n[i]);
    if constexpr (kRest) {
      rest[i] = times_power_of_two(hn::MulAdd(slope[i], r[i], hn::Sub(one, p)), n[i]);
    }
  });
}

HWY_INLINE void power_of_two(FloatPair& t) {
  power_of_two<false>(t, t);
}

/// Each of v to its value.
template <LogisticKind kKind>
class LogisticFunction;

template <>
class LogisticFunction<LogisticKind::sigmoid> {
 public:
  HWY_INLINE explicit LogisticFunction(const FloatPlan& plan)
      : rate_(hn::Set(FloatTag(), -std::get<Logistic>(*plan.fit).rate)) {}

  HWY_INLINE void operator()(FloatPair& v) const {
    const FloatVec one = hn::Set(FloatTag(), 1.0f);
    // By the side where e^-|a x| <= 1, which loses less in the sum.
    FloatPair e;
    for_pair([&](int i) HWY_ATTR { e[i] = hn::Mul(hn::Abs(v[i]), rate_); });
    power_of_two(e);
    for_pair([&](int i) HWY_ATTR {
      v[i] = hn::Div(hn::IfNegativeThenElse(v[i], e[i], one), hn::Add(one, e[i]));
    });
  }

 private:
  FloatVec rate_;
};

template <>
class LogisticFunction<LogisticKind::gate> {
 public:
  HWY_INLINE explicit LogisticFunction(const FloatPlan& plan)
      : rate_(hn::Set(FloatTag(), -std::get<Logistic>(*plan.fit).rate)),
        // Below it e^(-a x) is infinite, but x is not.
        low_(hn::Set(FloatTag(), -140.0f / std::get<Logistic>(*plan.fit).rate)) {}

  HWY_INLINE void operator()(FloatPair& v) const {
    FloatPair e;
    for_pair([&](int i) HWY_ATTR {
      v[i] = max_or_nan(low_, v[i]);
      e[i] = hn::Mul(v[i], rate_);
    });
    power_of_two(e);
    for_pair([&](int i)
                 HWY_ATTR { v[i] = hn::Div(v[i], hn::Add(hn::Set(FloatTag(), 1.0f), e[i])); });
  }

 private:
  FloatVec rate_;
  FloatVec low_;
};

/// Softplus of x in place.
HWY_INLINE void softplus(FloatPair& x) {
  const FloatTag d;
  // (log(1 + e) - e) / e^2 on [0, 1] without its first coefficient, to 6e-9 of the logarithm.
  constexpr float kCoefficients[] = {-0x1.af5e20p-9f, 0x1.49211cp-6f,  -0x1.d6b75ep-5f,
                                     0x1.b4b094p-4f,  -0x1.3a43e0p-3f, 0x1.934b6ep-3f,
                                     -0x1.ff23e8p-3f, 0x1.554dd0p-2f};
  constexpr float kFirst = -0x1.ffffd2p-2f;
  FloatPair e;
  FloatPair rest;
  FloatPair curve;
  for_pair([&](int i) HWY_ATTR { e[i] = hn::Mul(hn::Abs(x[i]), hn::Set(d, -0x1.715476p+0f)); });
  power_of_two<true>(e, rest);
  polynomial(kCoefficients, e, curve);
  for_pair([&](int i) HWY_ATTR {
    // What e was rounded by, over 1 + e, which is 0.96 - 0.47 e to 5 %; then what the sum is.
    const FloatVec share = hn::MulAdd(e[i], hn::Set(d, -0.47f), hn::Set(d, 0.96f));
    const FloatVec above = max_or_nan(hn::Zero(d), x[i]);
    const FloatVec most = hn::Max(above, e[i]);
    const FloatVec least = hn::Min(above, e[i]);
    const FloatVec sum = hn::Add(most, least);
    const FloatVec left = hn::MulAdd(rest[i], share, hn::Sub(least, hn::Sub(sum, most)));
    // The largest term is added apart, and what its steps round goes with the others.
    const FloatVec square = hn::Mul(e[i], e[i]);
    const FloatVec square_left = hn::MulSub(e[i], e[i], square);
    const FloatVec term = hn::Mul(square, hn::Set(d, kFirst));
    const FloatVec term_left =
        hn::MulAdd(square_left, hn::Set(d, kFirst), hn::MulSub(square, hn::Set(d, kFirst), term));
    const FloatVec bent = hn::Add(sum, term);
    const FloatVec bent_left = hn::Add(hn::Sub(term, hn::Sub(bent, sum)), left);
    const FloatVec small =
        hn::MulAdd(hn::Mul(square, e[i]), curve[i], hn::Add(bent_left, term_left));
    const FloatVec y = hn::Add(bent, small);
    // Far out it is x, also where that is infinite.
    x[i] = hn::IfThenElse(hn::Gt(x[i], hn::Set(d, 20.0f)), x[i], y);
  });
}

template <>
class LogisticFunction<LogisticKind::softplus> {
 public:
  HWY_INLINE explicit LogisticFunction(const FloatPlan&) {}
  HWY_INLINE void operator()(FloatPair& v) const { softplus(v); }
};

template <>
class LogisticFunction<LogisticKind::logsigmoid> {
 public:
  HWY_INLINE explicit LogisticFunction(const FloatPlan&) {}
  HWY_INLINE void operator()(FloatPair& v) const {
    for_pair([&](int i) HWY_ATTR { v[i] = hn::Neg(v[i]); });
    softplus(v);
    for_pair([&](int i) HWY_ATTR { v[i] = hn::Neg(v[i]); });
  }
};

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
