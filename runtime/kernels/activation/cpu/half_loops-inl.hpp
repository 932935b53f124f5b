// 16-bit elements of a function that has a table, values and codes in one loop, so that loads and
// arithmetic overlap; and which way to the values is fastest. Included once per instruction set.
#if defined(FEWBIT_HALF_LOOPS_INL) == defined(HWY_TARGET_TOGGLE)
#if defined(FEWBIT_HALF_LOOPS_INL)
#undef FEWBIT_HALF_LOOPS_INL
#else
#define FEWBIT_HALF_LOOPS_INL
#endif

#include <algorithm>
#include <chrono>
#include <vector>

#include "kernels/activation/cpu/floats-inl.hpp"
#include "kernels/activation/cpu/half_codes-inl.hpp"
#include "kernels/activation/cpu/half_values-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

/// Values, and the stream of the codes unless there are none to write, for `count` elements, whole
/// blocks. y may be x.
using HalfLoop = void(const HalfSource& source, const HalfPlan& plan, int64_t count, const void* x,
                      void* y, uint8_t* stream);

template <class Values, class Stream>
void transform_halves(const HalfSource& source, const HalfPlan& plan, int64_t count, const void* x,
                      void* y, uint8_t* stream) {
  const Values look_up(source);
  const Stream encode(plan);
  const auto* from = static_cast<const uint16_t*>(x);
  auto* to = static_cast<uint16_t*>(y);
  for (int64_t i = 0; i < count; i += kHalves) {
    prefetch_ahead(from + i, kHalves * sizeof *from);
    encode(from + i, stream);
    look_up(from + i, to + i);
  }
}

/// The loop of one way; null where the instruction set or the function does not have it.
template <class Stream, bool kPastCache>
HalfLoop* half_loop_by(HalfWay way, [[maybe_unused]] const HalfSource& source,
                       [[maybe_unused]] ElementType type) {
  switch (way) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
    case HalfWay::gathers:
      return transform_halves<Gathers<kPastCache>, Stream>;
    case HalfWay::fit:
      if (!source.exact.serves()) return nullptr;
      return with_function<HalfLoop>(*source.fit, [type]<class Function>() -> HalfLoop* {
        return type == ElementType::bf16
                   ? transform_halves<ExactFit<Function, ElementType::bf16>, Stream>
                   : transform_halves<ExactFit<Function, ElementType::f16>, Stream>;
      });
#endif
    case HalfWay::single_loads:
      return transform_halves<SingleLoads<kPastCache>, Stream>;
    default:
      return nullptr;
  }
}

template <class Stream, bool kPastCache>
HalfLoop* half_loop(const HalfSource& source, ElementType type) {
  const HalfWay way = half_way_for_test.value_or(source.fastest);
  HalfLoop* const loop = half_loop_by<Stream, kPastCache>(way, source, type);
  return loop ? loop : transform_halves<SingleLoads<kPastCache>, Stream>;
}

/// With the codes that the plan finds.
template <bool kPastCache>
HalfLoop* half_loop(const HalfSource& source, const HalfPlan& plan, ElementType type) {
  return with_stream(plan,
                     [&]<class Stream>() { return half_loop<Stream, kPastCache>(source, type); });
}

inline void evaluate_fit(const Fitted& fit, const float* x, float* y, int64_t count) {
  const FloatPlan plan{.fit = &fit};
  const EncodePlan none{StepView{}};
  float_stage<false>(plan, none)(plan, none, count, x, y, nullptr);
}

/// Seconds for values of a block from -3 to 3 at best, with all that they need in the cache.
inline double best_seconds(HalfLoop* loop, const HalfSource& source, ElementType type) {
  using Clock = std::chrono::steady_clock;
  constexpr int kTries = 12;
  constexpr int kPasses = 8;
  std::vector<uint16_t> x(kBlock);
  std::vector<uint16_t> y(kBlock);
  for (size_t i = 0; i < x.size(); ++i) {
    const auto in_turn = static_cast<float>(i * 197 % x.size());
    x[i] = half_from_float(type, in_turn * (6.0f / kBlock) - 3.0f);
  }
  double best = 1.0;
  for (int i = 0; i < kTries; ++i) {
    const Clock::time_point start = Clock::now();
    for (int pass = 0; pass < kPasses; ++pass) {
      loop(source, {}, kBlock, x.data(), y.data(), nullptr);
    }
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

/// Measures the ways there are: which is fastest depends on the function and the processor, and
/// what gathers take most of all.
inline HalfSource find_half_source(ElementType type, const HalfValues& table, const Fitted& fit) {
  HalfSource source;
  source.table = table.y.data();
  source.fit = &fit;
  if (HWY_NATIVE_FMA) source.exact = find_exact_halves(type, table, fit, evaluate_fit);
  double best = 1.0;
  for (const HalfWay way : {HalfWay::single_loads, HalfWay::gathers, HalfWay::fit}) {
    HalfLoop* const loop = half_loop_by<NoHalfStream, false>(way, source, type);
    const double seconds = loop ? best_seconds(loop, source, type) : 1.0;
    if (seconds >= best) continue;
    best = seconds;
    source.fastest = way;
  }
  return source;
}

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
