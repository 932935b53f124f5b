#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "kernels/cpu/encode_plan.hpp"
#include "kernels/cpu/float_plan.hpp"
#include "kernels/cpu/half_plan.hpp"
#include "kernels/cpu/half_values.hpp"
#include "kernels/cpu/stages.hpp"
#include "kernels/floating_point_mode.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/forward.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/bits-inl.hpp"
#include "kernels/cpu/elements-inl.hpp"
#include "kernels/cpu/floats-inl.hpp"
#include "kernels/cpu/halves-inl.hpp"
#include "kernels/cpu/rounding-inl.hpp"
#include "kernels/cpu/search-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

constexpr Isa kIsa = !HWY_ARCH_X86            ? kBaseline
                     : HWY_TARGET <= HWY_AVX3 ? kAvx512
                     : HWY_TARGET <= HWY_AVX2 ? kAvx2
                                              : kBaseline;

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

/// The stages of one pass and what they share. Codes are found before y is written, which may be x.
class ForwardPass {
 public:
  explicit ForwardPass(const ForwardCall& call)
      : call_(call),
        kernels_(call.activation->kernels->isa[kIsa]),
        parameters_(call.parameters ? call.parameters : call.activation->default_parameters),
        plan_(call.codes ? *call.steps : StepView{}),
        bits_(call.codes ? call.steps->bits : 0),
        size_(element_bytes(call.type)),
        past_cache_(stores_past_cache(call.range, call.type, call.x, call.y)),
        load_(load_stage(call.type, plan_.even && call.random == nullptr)) {
    std::transform(parameters_, parameters_ + call.activation->parameter_count, narrow_,
                   [](double parameter) { return static_cast<float>(parameter); });
    if (has_default_parameters()) choose_values();
    if (call.codes) choose_encoder();
    choose_stores();
  }

  void run() {
    const auto* x = static_cast<const uint8_t*>(call_.x);
    auto* y = static_cast<uint8_t*>(call_.y);
    const Range& range = call_.range;
    const int64_t last = (range.end - 1) / kBlock * kBlock;
    int64_t i = range.begin;
    if (is_one_loop() && i < last) {
      floats_(float_plan_, last - i, x + i * size_, y + i * size_, stream_at(i));
      i = last;
    }
    for (; i < last; i += kBlock) transform(i, kBlock, x + i * size_, y + i * size_, stream_at(i));
    if (past_cache_) hwy::FlushStream();
    if (i < range.end) run_last(i, x + i * size_, y + i * size_);
  }

 private:
  bool has_default_parameters() const {
    const Activation& activation = *call_.activation;
    return std::equal(narrow_, narrow_ + activation.parameter_count, activation.default_parameters,
                      [](float given, double known) { return given == static_cast<float>(known); });
  }

  void choose_values() {
    const FunctionKernels& kernels = *call_.activation->kernels;
    // Without a fused multiply-add what is fitted would miss the stated accuracy.
    if (HWY_NATIVE_FMA && call_.type == ElementType::f32) {
      if (kernels.lines().degree > 0) {
        float_plan_.lines = &kernels.lines();
      } else if (kernels.logistic().kind != LogisticKind::none) {
        float_plan_.logistic = &kernels.logistic();
      } else if (kernels.segments().degree > 0) {
        float_plan_.segments = &kernels.segments();
      }
    }
    if (size_ != 2) return;
    // Of more pieces rounding twice would show, and a table or the loop is as fast.
    if (HWY_NATIVE_FMA && kernels.lines().pieces == 1) {
      float_plan_.lines = &kernels.lines();
    } else if (!kernels.halves(call_.type).y.empty()) {
      half_values_ = kernels.halves(call_.type).y.data();
    }
  }

  void choose_encoder() {
    if (call_.random) {
      plan_.random = *call_.random;
      plan_.slope = kernels_.slope;
      plan_.parameters = narrow_;
      encode_ = encode_at_random;
      return;
    }
    if (size_ == 2) half_plan_ = HalfPlan(*call_.steps, call_.type);
    if (half_plan_.count >= 0) {
      choose_half_encoder();
      return;
    }
    if (call_.type == ElementType::f64 && plan_.wide_thresholds) {
      direct_ = encode_doubles;
      return;
    }
    if (bits_ > 1 || plan_.threshold_count > EncodePlan::kFew) plan_.prepare(*call_.steps);
    if (call_.type == ElementType::f32) choose_direct_encoder();
    if (direct_ || float_plan_.codes) return;
    const bool are_few = plan_.threshold_count <= EncodePlan::kSummed;
    encode_ = are_few ? encode_by_sum : encode_by_bisection;
  }

  void choose_direct_encoder() {
    constexpr bool kHasOneLoop = HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3;
    if (kHasOneLoop && float_plan_.is_fitted()) float_plan_.take_codes(plan_, bits_);
    is_stream_ = float_plan_.codes != nullptr;
    if (is_stream_) return;
    direct_ = one_bit_stage(plan_, bits_);
    is_stream_ = direct_ != nullptr;
    if (!is_stream_) direct_ = grid_stage(plan_);
  }

  void choose_half_encoder() {
    if (bits_ == 1) half_codes_ = half_one_bit_stage();
    is_stream_ = half_codes_ != nullptr;
    has_codes_with_values_ = half_values_ != nullptr && !is_stream_;
    if (!is_stream_ && !has_codes_with_values_) half_codes_ = half_codes_stage(half_plan_);
  }

  void choose_stores() {
    if (has_codes_with_values_) {
      halves_ = past_cache_ ? half_stage<true>(half_plan_) : half_stage<false>(half_plan_);
    } else if (half_values_) {
      halves_ = past_cache_ ? half_values_stage<true>() : half_values_stage<false>();
    } else if (float_plan_.lines && size_ == 2) {
      floats_ = past_cache_ ? half_line_stage<true>(float_plan_, call_.type)
                            : half_line_stage<false>(float_plan_, call_.type);
    } else if (float_plan_.is_fitted()) {
      floats_ = past_cache_ ? float_stage<true>(float_plan_) : float_stage<false>(float_plan_);
    } else {
      store_ = past_cache_ ? store_stage<true>(call_.type) : store_stage<false>(call_.type);
    }
  }

  /// Whether blocks need no other stage, so that one call does them all.
  bool is_one_loop() const { return floats_ && (float_plan_.codes || call_.codes == nullptr); }

  uint8_t* stream_at(int64_t i) const {
    return call_.codes ? call_.codes + i / 8 * bits_ : nullptr;
  }

  /// A whole block of which `count` elements are real; `stream` may be null.
  void transform(int64_t first, int64_t count, const uint8_t* x, uint8_t* y, uint8_t* stream) {
    const float* const floats = encode_ || store_ ? floats_of(x) : nullptr;
    if (stream) encode(first, x, floats, stream);
    transform_values(x, floats, y, stream);
    if (stream) finish(count, stream);
  }

  /// Null where they are not aligned.
  template <class Byte>
  static auto floats_at(Byte* at) {
    using Float = std::conditional_t<std::is_const_v<Byte>, const float, float>;
    const bool is_aligned = reinterpret_cast<uintptr_t>(at) % alignof(float) == 0;
    return is_aligned ? reinterpret_cast<Float*>(at) : nullptr;
  }

  const float* floats_of(const uint8_t* x) {
    const float* const floats = call_.type == ElementType::f32 ? floats_at(x) : nullptr;
    if (floats) return floats;
    load_(x, x_);
    return x_;
  }

  void encode(int64_t first, const uint8_t* x, const float* floats, uint8_t* stream) {
    uint8_t* const to = is_stream_ ? stream : codes_;
    if (half_codes_) {
      half_codes_(half_plan_, x, to);
    } else if (direct_) {
      direct_(plan_, x, to);
    } else if (encode_) {
      encode_(plan_, first, floats, codes_);
    }
  }

  void transform_values(const uint8_t* x, const float* floats, uint8_t* y, uint8_t* stream) {
    if (halves_) {
      halves_(half_plan_, half_values_, x, y, codes_);
    } else if (floats_) {
      floats_(float_plan_, kBlock, x, y, stream);
    } else if (call_.type == ElementType::f64) {
      transform_doubles(x, y);
    } else if (call_.type == ElementType::f32 && !past_cache_ && floats_at(y) && x != y) {
      kernels_.value(floats, floats_at(y), narrow_);
    } else {
      kernels_.value(floats, y_, narrow_);
      store_(y_, y);
    }
  }

  /// The stream of a block's codes, zero beyond `count` elements.
  void finish(int64_t count, uint8_t* stream) {
    if (is_stream_) {
      if (count < kBlock) clear_bits(stream, count * bits_);
      return;
    }
    if (count < kBlock) std::memset(codes_ + count, 0, static_cast<size_t>(kBlock - count));
    pack(codes_, kBlock, bits_, stream);
  }

  /// Leaves the first `count` bits of a block's stream.
  void clear_bits(uint8_t* stream, int64_t count) const {
    uint8_t* const last = stream + count / 8;
    *last = static_cast<uint8_t>(*last & ((1 << count % 8) - 1));
    std::memset(last + 1, 0, static_cast<size_t>(stream + block_bytes(bits_) - last - 1));
  }

  void transform_doubles(const uint8_t* x, uint8_t* y) const {
    double from[kBlock];
    double to[kBlock];
    std::memcpy(from, x, sizeof from);
    kernels_.value64(from, to, parameters_);
    std::memcpy(y, to, sizeof to);
  }

  /// The last block may be short, and its neighbour in the stream may be another thread's.
  void run_last(int64_t first, const uint8_t* x, uint8_t* y) {
    const Range& range = call_.range;
    const int64_t count = range.end - first;
    alignas(64) uint8_t padded[kBlock * 8] = {};
    uint8_t stream[kBitsBuffer];
    std::memcpy(padded, x, static_cast<size_t>(count * size_));
    past_cache_ = false;
    choose_stores();
    transform(first, count, padded, padded, call_.codes ? stream : nullptr);
    std::memcpy(y, padded, static_cast<size_t>(count * size_));
    if (call_.codes == nullptr) return;
    const int64_t begin = first / 8 * bits_;
    const int64_t end =
        range.end == range.count ? code_bytes(range.count, bits_) : range.end / 8 * bits_;
    std::memcpy(call_.codes + begin, stream, static_cast<size_t>(end - begin));
  }

  const ForwardCall& call_;
  const ValueKernels& kernels_;
  const double* parameters_;
  float narrow_[8] = {};  // the same for floats
  EncodePlan plan_;
  int bits_;
  int64_t size_;
  bool past_cache_;
  LoadStage* load_;
  EncodeStage* encode_ = nullptr;         // codes from x_,
  DirectStage* direct_ = nullptr;         // or straight from floats,
  HalfCodesStage* half_codes_ = nullptr;  // or from halves, or with the values of halves_;
  bool has_codes_with_values_ = false;
  bool is_stream_ = false;       // they are the stream itself
  StoreStage* store_ = nullptr;  // y from x_ by the function's own loop,
  FloatPlan float_plan_;
  FloatStage* floats_ = nullptr;  // or straight from x by this plan, with the codes if it has them
  const uint16_t* half_values_ = nullptr;
  HalfPlan half_plan_;
  HalfStage* halves_ = nullptr;  // or by this one
  alignas(64) float x_[kBlock];
  alignas(64) float y_[kBlock];
  alignas(64) uint8_t codes_[kBlock];
};

void run_forward(const ForwardCall& call) {
  ForwardPass(call).run();
}

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fewbit::kernels {

HWY_EXPORT(run_forward);

void forward(const Activation& activation, const double* parameters, const StepView& steps,
             ElementType type, const void* x, void* y, uint8_t* codes, const Range& range) {
  const DefaultFloatingPoint arithmetic;
  HWY_DYNAMIC_DISPATCH(run_forward)
  ({&activation, parameters, &steps, nullptr, type, x, y, codes, range});
}

void forward_unbiased(const Activation& activation, const double* parameters, const StepView& steps,
                      PhiloxState random, ElementType type, const void* x, void* y, uint8_t* codes,
                      const Range& range) {
  const DefaultFloatingPoint arithmetic;
  HWY_DYNAMIC_DISPATCH(run_forward)
  ({&activation, parameters, &steps, &random, type, x, y, codes, range});
}

}  // namespace fewbit::kernels
#endif
