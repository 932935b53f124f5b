#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/cpu/encode_plan.hpp"
#include "kernels/cpu/stages.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/forward.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/bits-inl.hpp"
#include "kernels/cpu/elements-inl.hpp"
#include "kernels/cpu/rounding-inl.hpp"
#include "kernels/cpu/search-inl.hpp"
#include "kernels/cpu/segments-inl.hpp"

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
    choose_encoder();
    choose_value(past_cache_);
  }

  void run() {
    const auto* x = static_cast<const uint8_t*>(call_.x);
    auto* y = static_cast<uint8_t*>(call_.y);
    const Range& range = call_.range;
    int64_t i = range.begin;
    for (; i + kBlock < range.end; i += kBlock) {
      uint8_t* const stream = call_.codes ? call_.codes + i / 8 * bits_ : nullptr;
      transform(i, kBlock, x + i * size_, y + i * size_, stream);
    }
    if (i < range.end) run_last(i, x + i * size_, y + i * size_);
    if (past_cache_) hwy::FlushStream();
  }

 private:
  bool has_default_parameters() const {
    const Activation& activation = *call_.activation;
    return std::equal(parameters_, parameters_ + activation.parameter_count,
                      activation.default_parameters);
  }

  void choose_encoder() {
    if (call_.codes == nullptr) return;
    if (call_.random) {
      plan_.random = *call_.random;
      plan_.slope = kernels_.slope;
      plan_.parameters = parameters_;
      encode_ = encode_at_random;
      return;
    }
    one_bit_ = one_bit_stage(plan_, bits_, call_.type);
    if (one_bit_) return;
    grid_ = grid_stage(plan_, call_.type);
    const bool are_few = plan_.threshold_count <= EncodePlan::kSummed;
    if (grid_ == nullptr) encode_ = are_few ? encode_by_sum : encode_by_bisection;
  }

  void choose_value(bool past_cache) {
    store_ = past_cache ? store_stage<true>(call_.type) : store_stage<false>(call_.type);
    // Segments are fitted for fused multiply-add; without it tanh would miss the stated accuracy.
    if (!HWY_NATIVE_FMA || !has_default_parameters() || call_.type == ElementType::f64) return;
    table_ = &call_.activation->kernels->segments();
    segments_ = past_cache ? segment_stage<true>(*table_, call_.type)
                           : segment_stage<false>(*table_, call_.type);
  }

  /// A whole block of which `count` elements are real; `stream` may be null.
  void transform(int64_t first, int64_t count, const uint8_t* x, uint8_t* y, uint8_t* stream) {
    const float* floats = x_;
    if (segments_ == nullptr || encode_) {
      const bool is_float = call_.type == ElementType::f32;
      if (is_float && reinterpret_cast<uintptr_t>(x) % sizeof(float) == 0) {
        floats = reinterpret_cast<const float*>(x);
      } else {
        load_(x, x_);
      }
    }
    if (stream) encode(first, count, x, floats, stream);
    if (segments_) {
      segments_(*table_, x, y);
    } else if (call_.type == ElementType::f64) {
      transform_doubles(x, y);
    } else {
      kernels_.value(floats, y_, parameters_);
      store_(y_, y);
    }
  }

  void encode(int64_t first, int64_t count, const uint8_t* x, const float* floats,
              uint8_t* stream) {
    if (one_bit_) {
      one_bit_(plan_, x, stream);
      if (count < kBlock) clear_bits(stream, count);
      return;
    }
    if (grid_) {
      grid_(plan_, x, codes_);
    } else {
      encode_(plan_, first, floats, codes_);
    }
    if (count < kBlock) std::memset(codes_ + count, 0, static_cast<size_t>(kBlock - count));
    pack_block(codes_, bits_, stream);
  }

  /// Leaves the first `count` bits of a block of one-bit codes.
  static void clear_bits(uint8_t* stream, int64_t count) {
    uint8_t* const last = stream + count / 8;
    *last = static_cast<uint8_t>(*last & ((1 << count % 8) - 1));
    std::memset(last + 1, 0, static_cast<size_t>(stream + kBlock / 8 - last - 1));
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
    choose_value(false);
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
  const float* parameters_;
  EncodePlan plan_;
  int bits_;
  int64_t size_;
  bool past_cache_;
  LoadStage* load_;
  EncodeStage* encode_ = nullptr;        // codes from x_,
  DirectStage* grid_ = nullptr;          // or straight from x,
  DirectStage* one_bit_ = nullptr;       // or the stream itself
  StoreStage* store_ = nullptr;          // y from x_ by the function's own loop,
  SegmentStage* segments_ = nullptr;     // or straight from x
  const SegmentTable* table_ = nullptr;  // by this table
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

void forward(const Activation& activation, const float* parameters, const StepView& steps,
             ElementType type, const void* x, void* y, uint8_t* codes, const Range& range) {
  HWY_DYNAMIC_DISPATCH(run_forward)
  ({&activation, parameters, &steps, nullptr, type, x, y, codes, range});
}

void forward_unbiased(const Activation& activation, const float* parameters, const StepView& steps,
                      PhiloxState random, ElementType type, const void* x, void* y, uint8_t* codes,
                      const Range& range) {
  HWY_DYNAMIC_DISPATCH(run_forward)
  ({&activation, parameters, &steps, &random, type, x, y, codes, range});
}

}  // namespace fewbit::kernels
#endif
