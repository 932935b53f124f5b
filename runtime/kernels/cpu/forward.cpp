#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/cpu/encode_plan.hpp"
#include "kernels/cpu/rounding.hpp"
#include "kernels/cpu/stages.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/forward.cpp"
#include <hwy/foreach_target.h>
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "kernels/cpu/bits-inl.hpp"
#include "kernels/cpu/elements-inl.hpp"
#include "kernels/cpu/search-inl.hpp"
#include "kernels/cpu/segments-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

constexpr int64_t kAhead = 4096;
inline void prefetch(const uint8_t* from, int64_t bytes) {
  for (int64_t k = 0; k < bytes; k += 64) hwy::Prefetch(from + k);
}
constexpr Isa kIsa = !HWY_ARCH_X86             ? kBaseline
                     : HWY_TARGET <= HWY_AVX3  ? kAvx512
                     : HWY_TARGET <= HWY_AVX2  ? kAvx2
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

inline EncodeStage* encode_stage(const EncodePlan& plan) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  if (plan.grid.per_cell == 1) return encode_by_grid<1>;
  if (plan.grid.per_cell == 2) return encode_by_grid<2>;
  if (plan.grid.per_cell == 3) return encode_by_grid<3>;
#endif
  return plan.threshold_count <= EncodePlan::kSummed ? encode_by_sum : encode_by_bisection;
}

/// The stages of one pass and what they share.
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
        load_(load_stage(call.type, plan_.even && call.random == nullptr)),
        store_(past_cache_ ? store_stage<true>(call.type) : store_stage<false>(call.type)),
        encode_(encode_stage(plan_)) {
    if (has_default_parameters() && call.type != ElementType::f64) {
      segments_ = &call.activation->kernels->segments();
      value_by_segments_ = segment_stage(*segments_);
    }
    if (call.random == nullptr) return;
    plan_.random = *call.random;
    plan_.slope = kernels_.slope;
    plan_.parameters = parameters_;
    encode_ = encode_at_random;
  }

  void run() {
    const auto* x = static_cast<const uint8_t*>(call_.x);
    auto* y = static_cast<uint8_t*>(call_.y);
    const Range& range = call_.range;
    int64_t i = range.begin;
    for (; i + kBlock < range.end; i += kBlock) {
      prefetch(x + i * size_ + kAhead, kBlock * size_);
      transform(x + i * size_, y + i * size_);
      if (call_.codes) encode(i, kBlock, call_.codes + i / 8 * bits_);
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

  /// y of a block; leaves what the codes compare in x_.
  void transform(const uint8_t* x, uint8_t* y) {
    load_(x, x_);
    if (call_.type == ElementType::f64) {
      transform_double(x, y);
    } else {
      if (value_by_segments_) {
        value_by_segments_(*segments_, x_, y_);
      } else {
        kernels_.value(x_, y_, parameters_);
      }
      store_(y_, y);
    }
  }

  void transform_double(const uint8_t* x, uint8_t* y) {
    double from[kBlock];
    double to[kBlock];
    std::memcpy(from, x, sizeof from);
    kernels_.value64(from, to, parameters_);
    std::memcpy(y, to, sizeof to);
  }

  void encode(int64_t first, int64_t count, uint8_t* stream) {
    encode_(plan_, first, x_, codes_);
    if (count < kBlock) std::memset(codes_ + count, 0, static_cast<size_t>(kBlock - count));
    pack_block(codes_, bits_, stream);
  }

  /// The last block may be short, and its neighbour in the stream may be another thread's.
  void run_last(int64_t first, const uint8_t* x, uint8_t* y) {
    const Range& range = call_.range;
    const int64_t count = range.end - first;
    if (count == kBlock) {
      transform(x, y);
    } else {
      alignas(64) uint8_t padded[kBlock * 8] = {};
      std::memcpy(padded, x, static_cast<size_t>(count * size_));
      store_ = store_stage<false>(call_.type);
      transform(padded, padded);
      std::memcpy(y, padded, static_cast<size_t>(count * size_));
    }
    if (call_.codes == nullptr) return;
    uint8_t buffer[kBitsBuffer];
    encode(first, count, buffer);
    const int64_t begin = first / 8 * bits_;
    const int64_t end = range.end == range.count ? code_bytes(range.count, bits_)
                                                 : range.end / 8 * bits_;
    std::memcpy(call_.codes + begin, buffer, static_cast<size_t>(end - begin));
  }

  const ForwardCall& call_;
  const ValueKernels& kernels_;
  const float* parameters_;
  const SegmentTable* segments_ = nullptr;
  SegmentStage* value_by_segments_ = nullptr;
  EncodePlan plan_;
  int bits_;
  int64_t size_;
  bool past_cache_;
  LoadStage* load_;
  StoreStage* store_;
  EncodeStage* encode_;
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
