// Values of floats by what was fitted to a function, and their codes with them, each vector loaded
// once: the two keep different parts of a processor busy. Included once per instruction set.
#if defined(FEWBIT_FLOATS_INL) == defined(HWY_TARGET_TOGGLE)
#if defined(FEWBIT_FLOATS_INL)
#undef FEWBIT_FLOATS_INL
#else
#define FEWBIT_FLOATS_INL
#endif

#include "kernels/cpu/bits-inl.hpp"
#include "kernels/cpu/float_plan.hpp"
#include "kernels/cpu/logistic-inl.hpp"
#include "kernels/cpu/search-inl.hpp"
#include "kernels/cpu/segments-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

/// Values, and the stream of the codes unless there are none to write, for `count` elements, whole
/// blocks. y may be x.
using FloatStage = void(const FloatPlan& plan, int64_t count, const void* x, void* y,
                        uint8_t* stream);

struct NoFloatCodes {
  HWY_INLINE explicit NoFloatCodes(const FloatPlan&) {}
  HWY_INLINE void operator()(const FloatPair&, uint8_t*&) const {}
};

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
template <int kPerCell>
class FloatStream {
 public:
  HWY_INLINE explicit FloatStream(const FloatPlan& plan) : encode_(*plan.codes), bits_(plan.bits) {}

  HWY_INLINE void operator()(const FloatPair& x, uint8_t*& stream) const {
    HWY_ALIGN uint8_t codes[32];
    encode_(x, codes);
    pack(codes, 32, bits_, stream);
    stream += 4 * bits_;
  }

 private:
  FloatCodesByGrid<kPerCell> encode_;
  int bits_;
};
#endif

template <class Function, class Codes, bool kPastCache>
void transform_floats(const FloatPlan& plan, int64_t count, const void* x, void* y,
                      uint8_t* stream) {
  const Function f(plan);
  const Codes encode(plan);
  const auto* from = static_cast<const float*>(x);
  auto* to = static_cast<float*>(y);
  for (int64_t i = 0; i < count; i += 2 * lane_count()) {
    FloatPair v = load_pair(from + i);
    encode(v, stream);
    f(v);
    Element<ElementType::f32>::store<kPastCache>(v[0], v[1], to + i);
  }
}

template <class Function, bool kPastCache>
FloatStage* float_stage_of([[maybe_unused]] const FloatPlan& plan) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  if (plan.codes) return transform_floats<Function, FloatStream<1>, kPastCache>;
#endif
  return transform_floats<Function, NoFloatCodes, kPastCache>;
}

template <SegmentKind kKind, bool kPastCache, int kDegree = SegmentTable::kMinDegree>
FloatStage* segment_stage(const FloatPlan& plan) {
  if constexpr (kDegree < SegmentTable::kMaxDegree) {
    if (plan.segments->degree > kDegree) return segment_stage<kKind, kPastCache, kDegree + 1>(plan);
  }
  return float_stage_of<SegmentFunction<kDegree, kKind>, kPastCache>(plan);
}

template <bool kPastCache>
FloatStage* logistic_stage(const FloatPlan& plan) {
  switch (plan.logistic->kind) {
    case LogisticKind::sigmoid:
      return float_stage_of<LogisticFunction<LogisticKind::sigmoid>, kPastCache>(plan);
    case LogisticKind::gate:
      return float_stage_of<LogisticFunction<LogisticKind::gate>, kPastCache>(plan);
    case LogisticKind::softplus:
      return float_stage_of<LogisticFunction<LogisticKind::softplus>, kPastCache>(plan);
    default:
      return float_stage_of<LogisticFunction<LogisticKind::logsigmoid>, kPastCache>(plan);
  }
}

/// For a plan with a fit.
template <bool kPastCache>
FloatStage* float_stage(const FloatPlan& plan) {
  if (plan.logistic) return logistic_stage<kPastCache>(plan);
  return plan.segments->kind == SegmentKind::gate
             ? segment_stage<SegmentKind::gate, kPastCache>(plan)
             : segment_stage<SegmentKind::odd, kPastCache>(plan);
}

/// Whether values and codes have one loop: one threshold in a cell, and an instruction set for it.
inline bool has_codes_with_values([[maybe_unused]] const EncodePlan& plan) {
  return HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3 && plan.grid.per_cell == 1;
}

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
