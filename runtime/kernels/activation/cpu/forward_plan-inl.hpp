// What a forward pass does with each block, chosen once. Included once per instruction set.
#if defined(FEWBIT_FORWARD_PLAN_INL) == defined(HWY_TARGET_TOGGLE)
#if defined(FEWBIT_FORWARD_PLAN_INL)
#undef FEWBIT_FORWARD_PLAN_INL
#else
#define FEWBIT_FORWARD_PLAN_INL
#endif

#include <algorithm>

#include "kernels/activation/cpu/encode_plan.hpp"
#include "kernels/activation/cpu/float_plan.hpp"
#include "kernels/activation/cpu/floats-inl.hpp"
#include "kernels/activation/cpu/half_codes-inl.hpp"
#include "kernels/activation/cpu/half_loops-inl.hpp"
#include "kernels/activation/cpu/half_plan.hpp"
#include "kernels/activation/cpu/rounding-inl.hpp"
#include "kernels/activation/cpu/search-inl.hpp"
#include "kernels/activation/cpu/stages.hpp"
#include "kernels/stream/cpu/elements-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

constexpr Isa kIsa = !HWY_ARCH_X86            ? kBaseline
                     : HWY_TARGET <= HWY_AVX3 ? kAvx512
                     : HWY_TARGET <= HWY_AVX2 ? kAvx2
                                              : kBaseline;

/// One stage for results that stay in the caches and one for those that go past them.
template <class Stage>
struct Stores {
  Stage* cached = nullptr;
  Stage* past_cache = nullptr;

  Stage* operator()(bool is_past_cache) const { return is_past_cache ? past_cache : cached; }
};

struct ForwardPlan {
  enum class Values {
    loop,      ///< the function's own, from floats to floats
    doubles,   ///< its own over doubles
    floats,    ///< a fit
    half_loop  ///< a table of all values of a 16-bit type, or what gives the same
  };
  enum class Codes {
    none,
    widened,      ///< from floats that x was widened to
    elements,     ///< from x as it is, floats or doubles
    halves,       ///< from 16-bit elements
    with_values,  ///< by the stage of the values
  };

  const ValueKernels* loops = nullptr;
  const double* parameters = nullptr;
  float narrow[8] = {};  ///< the same for floats
  int bits = 0;          ///< of a code, 0 where there are none
  bool past_cache = false;
  LoadStage* load = nullptr;

  Values values = Values::loop;
  Stores<StoreStage> store;
  FloatPlan float_plan;
  Stores<FloatStage> floats;
  const HalfSource* half_source = nullptr;
  Stores<HalfLoop> half_loop;

  Codes codes = Codes::none;
  bool is_stream = false;  ///< the codes' stage writes the stream itself, not one code a byte
  EncodePlan encode_plan{StepView{}};
  EncodeStage* encode_widened = nullptr;
  DirectStage* encode_elements = nullptr;
  HalfPlan half_plan;
  HalfCodesStage* encode_halves = nullptr;
};

inline LoadStage* load_stage(ElementType type, bool even) {
  switch (type) {
    case ElementType::f32:
      return load_block<ElementType::f32>;
    case ElementType::bf16:
      return load_block<ElementType::bf16>;
    case ElementType::f16:
      return load_block<ElementType::f16>;
    default:
      return even ? load_doubles<true> : load_doubles<false>;
  }
}

template <bool kPastCache>
StoreStage* store_stage(ElementType type) {
  switch (type) {
    case ElementType::f32:
      return store_block<ElementType::f32, kPastCache>;
    case ElementType::bf16:
      return store_block<ElementType::bf16, kPastCache>;
    case ElementType::f16:
      return store_block<ElementType::f16, kPastCache>;
    default:
      return nullptr;
  }
}

inline bool has_default_parameters(const Activation& activation, const float* narrow) {
  return std::equal(narrow, narrow + activation.parameter_count, activation.default_parameters,
                    [](float given, double known) { return given == static_cast<float>(known); });
}

/// What gives the values, but for the stages.
inline void choose_values(const ForwardCall& call, ForwardPlan& plan) {
  using Values = ForwardPlan::Values;
  const FunctionKernels& kernels = *call.activation->kernels;
  plan.values = call.type == ElementType::f64 ? Values::doubles : Values::loop;
  if (plan.values == Values::doubles || !has_default_parameters(*call.activation, plan.narrow)) {
    return;
  }
  // Without a fused multiply-add what is fitted would miss the stated accuracy.
  if (HWY_NATIVE_FMA) {
    const Fitted& fitted = kernels.fitted();
    const auto* const lines = std::get_if<Lines>(&fitted);
    // To 16 bits, of more pieces rounding twice would show.
    const bool serves = call.type == ElementType::f32
                            ? !std::holds_alternative<std::monostate>(fitted)
                            : lines != nullptr && lines->pieces == 1;
    if (serves) {
      plan.values = Values::floats;
      plan.float_plan.fit = &fitted;
      return;
    }
  }
  if (element_bytes(call.type) != 2 || kernels.halves(call.type).y.empty()) return;
  plan.values = Values::half_loop;
  plan.half_source = &kernels.half_source(call.type, find_half_source);
}

inline void choose_half_codes(ForwardPlan& plan) {
  using Codes = ForwardPlan::Codes;
  const bool has_loop = plan.values == ForwardPlan::Values::half_loop;
  plan.codes = has_loop ? Codes::with_values : Codes::halves;
  plan.is_stream = true;
  plan.encode_halves = half_codes_stage(plan.half_plan);
}

/// Whether there is a stage for codes of floats as they are.
inline bool choose_float_codes(ForwardPlan& plan) {
  using Codes = ForwardPlan::Codes;
  constexpr bool kHasOneLoop = HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3;
  if (kHasOneLoop && plan.values == ForwardPlan::Values::floats &&
      plan.float_plan.take_codes(plan.encode_plan, plan.bits)) {
    plan.codes = Codes::with_values;
    plan.is_stream = true;
    return true;
  }
  plan.codes = Codes::elements;
  plan.encode_elements = one_bit_stage(plan.encode_plan, plan.bits);
  plan.is_stream = plan.encode_elements != nullptr;
  if (!plan.is_stream) plan.encode_elements = grid_stage(plan.encode_plan);
  return plan.encode_elements != nullptr;
}

/// What finds the codes, after the values are chosen.
inline void choose_codes(const ForwardCall& call, ForwardPlan& plan) {
  using Codes = ForwardPlan::Codes;
  EncodePlan& encode = plan.encode_plan;
  plan.codes = Codes::widened;
  if (call.random) {
    encode.random = *call.random;
    encode.slope = plan.loops->slope;
    std::copy_n(plan.narrow, 8, encode.parameters);
    plan.encode_widened = encode_at_random;
    return;
  }
  if (element_bytes(call.type) == 2) plan.half_plan = HalfPlan(*call.steps, call.type);
  if (plan.half_plan.count >= 0) return choose_half_codes(plan);
  if (call.type == ElementType::f64 && encode.wide_thresholds) {
    plan.codes = Codes::elements;
    plan.encode_elements = encode_doubles;
    return;
  }
  if (plan.bits > 1 || encode.threshold_count > EncodePlan::kFew) encode.prepare(*call.steps);
  if (call.type == ElementType::f32 && choose_float_codes(plan)) return;
  const bool are_few = encode.threshold_count <= EncodePlan::kSummed;
  plan.codes = Codes::widened;
  plan.encode_widened = are_few ? encode_by_sum : encode_by_bisection;
}

/// The stage that gives the values and, with_values, the codes.
template <bool kPastCache>
void choose_stages(const ForwardCall& call, ForwardPlan& plan) {
  const auto take = [](auto& stores, auto* stage) {
    (kPastCache ? stores.past_cache : stores.cached) = stage;
  };
  switch (plan.values) {
    case ForwardPlan::Values::loop:
      take(plan.store, store_stage<kPastCache>(call.type));
      break;
    case ForwardPlan::Values::doubles:
      break;
    case ForwardPlan::Values::floats:
      take(plan.floats,
           call.type == ElementType::f32
               ? float_stage<kPastCache>(plan.float_plan, plan.encode_plan)
               : half_line_stage<kPastCache>(std::get<Lines>(*plan.float_plan.fit), call.type));
      break;
    case ForwardPlan::Values::half_loop:
      take(plan.half_loop, plan.codes == ForwardPlan::Codes::with_values
                               ? half_loop<kPastCache>(*plan.half_source, plan.half_plan, call.type)
                               : half_loop<NoHalfStream, kPastCache>(*plan.half_source, call.type));
      break;
  }
}

/// The plan of a pass: a pure function of the call.
inline ForwardPlan choose(const ForwardCall& call) {
  const Activation& activation = *call.activation;
  ForwardPlan plan;
  plan.loops = &activation.kernels->isa[kIsa];
  plan.parameters = call.parameters ? call.parameters : activation.default_parameters;
  std::transform(plan.parameters, plan.parameters + activation.parameter_count, plan.narrow,
                 [](double parameter) { return static_cast<float>(parameter); });
  plan.past_cache = stores_past_cache(call.range, call.type, call.x, call.y);
  plan.load = load_stage(call.type, call.codes && call.steps->even && call.random == nullptr);
  choose_values(call, plan);
  if (call.codes) {
    plan.bits = call.steps->bits;
    plan.encode_plan = EncodePlan(*call.steps);
    choose_codes(call, plan);
  }
  choose_stages<false>(call, plan);
  choose_stages<true>(call, plan);
  return plan;
}

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
