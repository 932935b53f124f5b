// 16-bit elements in one loop: values by a fit, in floats, where that gives the very values of the
// table of all of them, which gives the others; codes beside them. For registers of 32 floats.
// Included once per instruction set.
#if defined(FEWBIT_EXACT_HALVES_INL) == defined(HWY_TARGET_TOGGLE)
#if defined(FEWBIT_EXACT_HALVES_INL)
#undef FEWBIT_EXACT_HALVES_INL
#else
#define FEWBIT_EXACT_HALVES_INL
#endif

#include "kernels/activation/cpu/floats-inl.hpp"
#include "kernels/activation/cpu/halves-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

struct ExactPlan {
  FloatPlan floats;
  const ExactHalves* exact = nullptr;
  const uint16_t* table = nullptr;
};

/// Values, and the stream of the codes unless there are none to write, for `count` elements, whole
/// blocks. y may be x.
using ExactStage = void(const ExactPlan& plan, const HalfPlan& half, int64_t count, const void* x,
                        void* y, uint8_t* stream);

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
/// Whether the fit gives the values of kHalves elements.
class AreExact {
 public:
  HWY_INLINE explicit AreExact(const ExactHalves& exact)
      : last_(_mm512_set1_epi16(static_cast<int16_t>(exact.last))), count_(exact.exception_count) {
    for (int i = 0; i < count_; ++i) {
      exception_[i] = _mm512_set1_epi16(static_cast<int16_t>(exact.exception[i]));
    }
  }

  HWY_INLINE bool operator()(const uint16_t* from) const {
    const __m512i x = _mm512_loadu_si512(from);
    __mmask32 are_not = _mm512_cmpgt_epu16_mask(x, last_);
    for (int i = 0; i < count_; ++i) are_not |= _mm512_cmpeq_epi16_mask(x, exception_[i]);
    return are_not == 0;
  }

 private:
  __m512i last_;
  int count_;
  __m512i exception_[ExactHalves::kMaxExceptions];
};

template <class Function, ElementType kType, class Stream>
void transform_exact_halves(const ExactPlan& plan, const HalfPlan& half, int64_t count,
                            const void* x, void* y, uint8_t* stream) {
  using Pair = UnorderedPair<kType>;
  const Function f(plan.floats);
  const AreExact are_exact(*plan.exact);
  const Stream encode(half);
  const auto* from = static_cast<const uint16_t*>(x);
  auto* to = static_cast<uint16_t*>(y);
  for (int64_t i = 0; i < count; i += kHalves) {
    encode(from + i, stream);
    if (!are_exact(from + i)) [[unlikely]] {
      look_up<false>(plan.table, from + i, to + i);
      continue;
    }
    FloatPair v = Pair::load(from + i);
    f(v);
    // Past the caches it takes twice as long, with stores of looked-up values between these.
    Pair::template store<false>(v, to + i);
  }
}

/// Whether computing takes less than looking up: 0.10 to 0.18 ns an element on a Zen 5 core against
/// 0.19; the others take 0.19 to 0.48.
template <class Function>
inline constexpr bool kIsBrief = true;
template <SegmentKind kKind>
inline constexpr bool kIsBrief<SegmentFunction<SegmentTable::kMaxDegree, kKind>> = false;
template <>
inline constexpr bool kIsBrief<LogisticFunction<LogisticKind::softplus>> = false;
template <>
inline constexpr bool kIsBrief<LogisticFunction<LogisticKind::logsigmoid>> = false;
/// Straight lines have no table.
template <int kPieces>
inline constexpr bool kIsBrief<LineFunction<1, kPieces>> = false;

template <class Stream>
ExactStage* exact_stage_of(const Fitted& fit, ElementType type) {
  return with_function<ExactStage>(fit, [type]<class Function>() -> ExactStage* {
    if constexpr (!kIsBrief<Function>) {
      return nullptr;
    } else {
      return type == ElementType::bf16 ? transform_exact_halves<Function, ElementType::bf16, Stream>
                                       : transform_exact_halves<Function, ElementType::f16, Stream>;
    }
  });
}

inline void evaluate_fit(const Fitted& fit, const float* x, float* y, int64_t count) {
  const FloatPlan plan{.fit = &fit};
  const EncodePlan none{StepView{}};
  float_stage<false>(plan, none)(plan, none, count, x, y, nullptr);
}

/// The plan of a function that has a table, with `exact` null where looking up is faster.
inline ExactPlan plan_exact_halves(const FunctionKernels& kernels, ElementType type) {
  ExactPlan plan;
  if (exact_stage_of<NoHalfStream>(kernels.fitted(), type) == nullptr) return plan;
  const ExactHalves& exact = kernels.exact_halves(type, evaluate_fit);
  if (!exact.serves()) return plan;
  plan.floats.fit = &kernels.fitted();
  plan.exact = &exact;
  plan.table = kernels.halves(type).y.data();
  return plan;
}

/// Values alone.
inline ExactStage* exact_stage(const ExactPlan& plan, ElementType type) {
  return exact_stage_of<NoHalfStream>(*plan.floats.fit, type);
}

/// Values with codes.
inline ExactStage* exact_stage(const ExactPlan& plan, const HalfPlan& half, ElementType type) {
  return with_stream(
      half, [&]<class Stream>() { return exact_stage_of<Stream>(*plan.floats.fit, type); });
}
#else
inline ExactPlan plan_exact_halves(const FunctionKernels&, ElementType) {
  return {};
}
inline ExactStage* exact_stage(const ExactPlan&, ElementType) {
  return nullptr;
}
inline ExactStage* exact_stage(const ExactPlan&, const HalfPlan&, ElementType) {
  return nullptr;
}
#endif

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
