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

#include "kernels/activation/cpu/float_plan.hpp"
#include "kernels/activation/cpu/lines-inl.hpp"
#include "kernels/activation/cpu/logistic-inl.hpp"
#include "kernels/activation/cpu/search-inl.hpp"
#include "kernels/activation/cpu/segments-inl.hpp"
#include "kernels/stream/cpu/bits-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

/// Values, and the stream of the codes unless there are none to write, for `count` elements, whole
/// blocks. y may be x.
using FloatStage = void(const FloatPlan& plan, const EncodePlan& encode, int64_t count,
                        const void* x, void* y, uint8_t* stream);

struct NoFloatCodes {
  HWY_INLINE NoFloatCodes(const FloatPlan&, const EncodePlan&) {}
  HWY_INLINE void operator()(const FloatPair&, uint8_t*&) const {}
};

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
template <int kPerCell>
class FloatStream {
 public:
  HWY_INLINE FloatStream(const FloatPlan& plan, const EncodePlan& encode)
      : encode_(encode), bits_(plan.bits) {}

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
  HWY_INLINE FloatBits(const FloatPlan& plan, const EncodePlan& encode)
      : keep_(hn::Set(UnsignedTag(), encode.even ? 0x7FFFFFFFu : ~0u)),
        first_((encode.codes[0] != 0) != kNan ? ~uint32_t{0} : 0) {
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
void transform_floats(const FloatPlan& plan, const EncodePlan& encode_plan, int64_t count,
                      const void* x, void* y, uint8_t* stream) {
  const Function f(plan);
  const Codes encode(plan, encode_plan);
  const auto* from = static_cast<const float*>(x);
  auto* to = static_cast<float*>(y);
  for (int64_t i = 0; i < count; i += 2 * lane_count()) {
    prefetch_ahead(from + i, 2 * lane_count() * int64_t{sizeof *from});
    FloatPair v = load_pair(from + i);
    encode(v, stream);
    f(v);
    Element<ElementType::f32>::store<kPastCache>(v[0], v[1], to + i);
  }
}

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
/// Null where codes are not one bit, or a NaN's not that of kNan.
template <class Function, bool kPastCache, int kMostFlips, bool kNan>
FloatStage* bit_stage_of(const FloatPlan& plan, const EncodePlan& encode) {
  if (plan.flip_count == 0 || (encode.nan_change != 0) != kNan) return nullptr;
  if constexpr (kMostFlips == 2) {
    if (plan.flip_count == 2) return transform_floats<Function, FloatBits<2, kNan>, kPastCache>;
  }
  return transform_floats<Function, FloatBits<1, kNan>, kPastCache>;
}
#endif

template <class Function>
inline constexpr bool kIsLines = false;
template <int kDegree, int kPieces>
inline constexpr bool kIsLines<LineFunction<kDegree, kPieces>> = true;

template <class Function, bool kPastCache>
FloatStage* float_stage_of([[maybe_unused]] const FloatPlan& plan,
                           [[maybe_unused]] const EncodePlan& encode) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  constexpr int kMostFlips = kIsLines<Function> ? 2 : 1;
  if (FloatStage* stage = bit_stage_of<Function, kPastCache, kMostFlips, false>(plan, encode)) {
    return stage;
  }
  if (FloatStage* stage = bit_stage_of<Function, kPastCache, kMostFlips, true>(plan, encode)) {
    return stage;
  }
  if (plan.bits > 0) return transform_floats<Function, FloatStream<1>, kPastCache>;
#endif
  return transform_floats<Function, NoFloatCodes, kPastCache>;
}

/// Values alone of a 16-bit type.
template <class Function, ElementType kType, bool kPastCache>
void transform_widened(const FloatPlan& plan, const EncodePlan&, int64_t count, const void* x,
                       void* y, uint8_t*) {
  using Pair = UnorderedPair<kType>;
  const Function f(plan);
  const auto* from = static_cast<const uint16_t*>(x);
  auto* to = static_cast<uint16_t*>(y);
  for (int64_t i = 0; i < count; i += 2 * lane_count()) {
    prefetch_ahead(from + i, 2 * lane_count() * int64_t{sizeof *from});
    FloatPair v = Pair::load(from + i);
    f(v);
    Pair::template store<kPastCache>(v, to + i);
  }
}

/// pick<Function>() for the class of a fit's values.
template <class Stage, class Pick>
class WithFunction {
 public:
  explicit WithFunction(const Pick& pick) : pick_(pick) {}

  Stage* operator()(std::monostate) const { return nullptr; }

  Stage* operator()(const Lines& lines) const {
    return lines.degree == 1 ? of_lines<1>(lines) : of_lines<2>(lines);
  }

  Stage* operator()(const Logistic& logistic) const {
    switch (logistic.kind) {
      case LogisticKind::sigmoid:
        return of<LogisticFunction<LogisticKind::sigmoid>>();
      case LogisticKind::gate:
        return of<LogisticFunction<LogisticKind::gate>>();
      case LogisticKind::softplus:
        return of<LogisticFunction<LogisticKind::softplus>>();
      default:
        return of<LogisticFunction<LogisticKind::logsigmoid>>();
    }
  }

  Stage* operator()(const SegmentTable& segments) const {
    return segments.kind == SegmentKind::gate ? of_segments<SegmentKind::gate>(segments.degree)
                                              : of_segments<SegmentKind::odd>(segments.degree);
  }

 private:
  template <class Function>
  Stage* of() const {
    return pick_.template operator()<Function>();
  }

  template <int kDegree>
  Stage* of_lines(const Lines& lines) const {
    if (lines.pieces == 1) return of<LineFunction<kDegree, 1>>();
    if (lines.pieces == 2) return of<LineFunction<kDegree, 2>>();
    return of<LineFunction<kDegree, 3>>();
  }

  template <SegmentKind kKind, int kDegree = SegmentTable::kMinDegree>
  Stage* of_segments(int degree) const {
    if constexpr (kDegree < SegmentTable::kMaxDegree) {
      if (degree > kDegree) return of_segments<kKind, kDegree + 1>(degree);
    }
    return of<SegmentFunction<kDegree, kKind>>();
  }

  const Pick& pick_;
};

template <class Stage, class Pick>
Stage* with_function(const Fitted& fit, const Pick& pick) {
  return std::visit(WithFunction<Stage, Pick>(pick), fit);
}

/// The loop over floats for a plan.
template <bool kPastCache>
FloatStage* float_stage(const FloatPlan& plan, const EncodePlan& encode) {
  return with_function<FloatStage>(*plan.fit, [&]<class Function>() {
    return float_stage_of<Function, kPastCache>(plan, encode);
  });
}

template <int kDegree, bool kPastCache>
FloatStage* half_line_stage(ElementType type) {
  using Function = LineFunction<kDegree, 1>;
  return type == ElementType::bf16 ? transform_widened<Function, ElementType::bf16, kPastCache>
                                   : transform_widened<Function, ElementType::f16, kPastCache>;
}

/// For one piece; `type` is bf16 or f16.
template <bool kPastCache>
FloatStage* half_line_stage(const Lines& lines, ElementType type) {
  return lines.degree == 1 ? half_line_stage<1, kPastCache>(type)
                           : half_line_stage<2, kPastCache>(type);
}

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
