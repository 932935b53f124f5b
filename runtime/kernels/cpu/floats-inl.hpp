// Values of floats by what was fitted to a function, and their codes with them, each vector loaded
// once: the two keep different parts of a processor busy. Included once per instruction set.
#if defined(FEWBIT_FLOATS_INL) == defined(HWY_TARGET_TOGGLE)
#if defined(FEWBIT_FLOATS_INL)
#undef FEWBIT_FLOATS_INL
#else
#define FEWBIT_FLOATS_INL
#endif

#include <cstring>
#include <limits>

#include "kernels/cpu/bits-inl.hpp"
#include "kernels/cpu/float_plan.hpp"
#include "kernels/cpu/lines-inl.hpp"
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

/// One bit: the first code, flipped by every threshold passed at which the code changes. Where a
/// NaN has the other code: the other code, flipped by the first of them where it is not passed,
/// which a NaN neither does.
template <int kFlips, bool kNan>
class FloatBits {
 public:
  HWY_INLINE explicit FloatBits(const FloatPlan& plan)
      : keep_(hn::Set(UnsignedTag(), plan.codes->even ? 0x7FFFFFFFu : ~0u)),
        first_((plan.codes->codes[0] != 0) != kNan ? ~uint32_t{0} : 0) {
    for (int i = 0; i < kFlips; ++i) flip_[i] = hn::Set(FloatTag(), plan.flips[i]);
  }

  HWY_INLINE void operator()(const FloatPair& x, uint8_t*& stream) const {
    uint32_t bits = first_;
    for_pair([&](int i) HWY_ATTR {
      const FloatVec v = hn::BitCast(FloatTag(), hn::And(hn::BitCast(UnsignedTag(), x[i]), keep_));
      for (int k = 0; k < kFlips; ++k) {
        const auto flips = kNan && k == 0 ? hn::Le(v, flip_[k]) : hn::Gt(v, flip_[k]);
        bits ^= uint32_t{flips.raw} << 16 * i;
      }
    });
    std::memcpy(stream, &bits, sizeof bits);
    stream += sizeof bits;
  }

 private:
  hn::Vec<UnsignedTag> keep_;
  FloatVec flip_[kFlips];
  uint32_t first_;
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

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
/// Null where codes are not one bit, or a NaN's not that of kNan.
template <class Function, bool kPastCache, int kMostFlips, bool kNan>
FloatStage* bit_stage_of(const FloatPlan& plan) {
  if (plan.flip_count == 0 || (plan.codes->nan_change != 0) != kNan) return nullptr;
  if constexpr (kMostFlips == 2) {
    if (plan.flip_count == 2) return transform_floats<Function, FloatBits<2, kNan>, kPastCache>;
  }
  return transform_floats<Function, FloatBits<1, kNan>, kPastCache>;
}
#endif

template <class Function, bool kPastCache, int kMostFlips = 1>
FloatStage* float_stage_of([[maybe_unused]] const FloatPlan& plan) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  if (FloatStage* stage = bit_stage_of<Function, kPastCache, kMostFlips, false>(plan)) return stage;
  if (FloatStage* stage = bit_stage_of<Function, kPastCache, kMostFlips, true>(plan)) return stage;
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

template <int kDegree, bool kPastCache>
FloatStage* line_stage(const FloatPlan& plan) {
  if (plan.lines->pieces == 1) return float_stage_of<LineFunction<kDegree, 1>, kPastCache, 2>(plan);
  if (plan.lines->pieces == 2) return float_stage_of<LineFunction<kDegree, 2>, kPastCache, 2>(plan);
  return float_stage_of<LineFunction<kDegree, 3>, kPastCache, 2>(plan);
}

/// Values alone of a 16-bit type.
template <class Function, ElementType kType, bool kPastCache>
void transform_widened(const FloatPlan& plan, int64_t count, const void* x, void* y, uint8_t*) {
  using E = Element<kType>;
  const Function f(plan);
  const auto* from = static_cast<const uint16_t*>(x);
  auto* to = static_cast<uint16_t*>(y);
  for (int64_t i = 0; i < count; i += 2 * lane_count()) {
    FloatPair v{E::load(from + i), E::load(from + i + lane_count())};
    f(v);
    E::template store<kPastCache>(v[0], v[1], to + i);
  }
}

template <int kDegree, bool kPastCache>
FloatStage* half_line_stage(ElementType type) {
  using Function = LineFunction<kDegree, 1>;
  return type == ElementType::bf16 ? transform_widened<Function, ElementType::bf16, kPastCache>
                                   : transform_widened<Function, ElementType::f16, kPastCache>;
}

/// For one piece; `type` is bf16 or f16.
template <bool kPastCache>
FloatStage* half_line_stage(const FloatPlan& plan, ElementType type) {
  return plan.lines->degree == 1 ? half_line_stage<1, kPastCache>(type)
                                 : half_line_stage<2, kPastCache>(type);
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
  if (plan.lines) {
    return plan.lines->degree == 1 ? line_stage<1, kPastCache>(plan)
                                   : line_stage<2, kPastCache>(plan);
  }
  if (plan.logistic) return logistic_stage<kPastCache>(plan);
  return plan.segments->kind == SegmentKind::gate
             ? segment_stage<SegmentKind::gate, kPastCache>(plan)
             : segment_stage<SegmentKind::odd, kPastCache>(plan);
}

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
