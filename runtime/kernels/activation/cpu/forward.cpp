#include <cstring>
#include <type_traits>

#include "kernels/activation/cpu/stages.hpp"
#include "kernels/floating_point_mode.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/activation/cpu/forward.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/activation/cpu/forward_plan-inl.hpp"
#include "kernels/stream/cpu/bits-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

/// Does what its plan says, block by block. Codes are found before y is written, which may be x.
class ForwardPass {
 public:
  using Values = ForwardPlan::Values;
  using Codes = ForwardPlan::Codes;

  explicit ForwardPass(const ForwardCall& call)
      : call_(call), plan_(choose(call)), size_(element_bytes(call.type)) {}

  void run() {
    const auto* x = static_cast<const uint8_t*>(call_.x);
    auto* y = static_cast<uint8_t*>(call_.y);
    const Range& range = call_.range;
    const int64_t last = (range.end - 1) / kBlock * kBlock;
    int64_t i = range.begin;
    if (is_one_loop() && i < last) {
      run_one_loop(last - i, x + i * size_, y + i * size_, stream_at(i), plan_.past_cache);
      i = last;
    }
    for (; i < last; i += kBlock) {
      prefetch_ahead(x + i * size_, kBlock * size_);
      const Block block{i, kBlock, x + i * size_, y + i * size_, stream_at(i), plan_.past_cache};
      transform(block);
    }
    if (plan_.past_cache) hwy::FlushStream();
    if (i < range.end) run_last(i, x + i * size_, y + i * size_);
  }

 private:
  /// A whole block of which `count` elements are real; `stream` may be null.
  struct Block {
    int64_t first;
    int64_t count;
    const uint8_t* x;
    uint8_t* y;
    uint8_t* stream;
    bool past_cache;
  };

  /// Whether blocks need no other stage, so that one call does them all.
  bool is_one_loop() const {
    return (plan_.values == Values::floats || plan_.values == Values::half_loop) &&
           (plan_.codes == Codes::none || plan_.codes == Codes::with_values);
  }

  uint8_t* stream_at(int64_t i) const {
    return call_.codes ? call_.codes + i / 8 * plan_.bits : nullptr;
  }

  void transform(const Block& block) {
    const bool needs_floats = plan_.codes == Codes::widened || plan_.values == Values::loop;
    const float* const floats = needs_floats ? floats_of(block.x) : nullptr;
    encode(block, floats);
    transform_values(block, floats);
    if (block.stream) finish(block);
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
    plan_.load(x, x_);
    return x_;
  }

  void encode(const Block& block, const float* floats) {
    uint8_t* const to = plan_.is_stream ? block.stream : codes_;
    switch (plan_.codes) {
      case Codes::widened:
        return plan_.encode_widened(plan_.encode_plan, block.first, floats, codes_);
      case Codes::elements:
        return plan_.encode_elements(plan_.encode_plan, block.x, to);
      case Codes::halves:
        return plan_.encode_halves(plan_.half_plan, block.x, to);
      default:
        return;
    }
  }

  void transform_values(const Block& block, const float* floats) {
    switch (plan_.values) {
      case Values::loop:
        return run_loop(block, floats);
      case Values::doubles:
        return run_loop_over_doubles(block);
      case Values::floats:
      case Values::half_loop:
        return run_one_loop(kBlock, block.x, block.y, block.stream, block.past_cache);
    }
  }

  void run_one_loop(int64_t count, const uint8_t* x, uint8_t* y, uint8_t* stream,
                    bool past_cache) const {
    if (plan_.values == Values::half_loop) {
      plan_.half_loop(past_cache)(*plan_.half_source, plan_.half_plan, count, x, y, stream);
    } else {
      plan_.floats(past_cache)(plan_.float_plan, plan_.encode_plan, count, x, y, stream);
    }
  }

  void run_loop(const Block& block, const float* floats) {
    float* const y = call_.type == ElementType::f32 ? floats_at(block.y) : nullptr;
    if (y != nullptr && !block.past_cache && block.x != block.y) {
      plan_.loops->value(floats, y, plan_.narrow);
    } else {
      plan_.loops->value(floats, y_, plan_.narrow);
      plan_.store(block.past_cache)(y_, block.y);
    }
  }

  void run_loop_over_doubles(const Block& block) const {
    double from[kBlock];
    double to[kBlock];
    std::memcpy(from, block.x, sizeof from);
    plan_.loops->value64(from, to, plan_.parameters);
    std::memcpy(block.y, to, sizeof to);
  }

  /// The stream of a block's codes, zero beyond the real elements.
  void finish(const Block& block) {
    if (plan_.is_stream) {
      if (block.count < kBlock) clear_bits(block.stream, block.count * plan_.bits);
      return;
    }
    if (block.count < kBlock) {
      std::memset(codes_ + block.count, 0, static_cast<size_t>(kBlock - block.count));
    }
    pack(codes_, kBlock, plan_.bits, block.stream);
  }

  /// Leaves the first `count` bits of a block's stream.
  void clear_bits(uint8_t* stream, int64_t count) const {
    uint8_t* const last = stream + count / 8;
    *last = static_cast<uint8_t>(*last & ((1 << count % 8) - 1));
    std::memset(last + 1, 0, static_cast<size_t>(stream + block_bytes(plan_.bits) - last - 1));
  }

  /// The last block may be short, and its neighbour in the stream may be another thread's.
  void run_last(int64_t first, const uint8_t* x, uint8_t* y) {
    const Range& range = call_.range;
    const int64_t count = range.end - first;
    alignas(64) uint8_t padded[kBlock * 8] = {};
    uint8_t stream[kBitsBuffer];
    std::memcpy(padded, x, static_cast<size_t>(count * size_));
    transform({first, count, padded, padded, call_.codes ? stream : nullptr, false});
    std::memcpy(y, padded, static_cast<size_t>(count * size_));
    if (call_.codes == nullptr) return;
    const int64_t begin = first / 8 * plan_.bits;
    const int64_t end =
        range.end == range.count ? code_bytes(range.count, plan_.bits) : range.end / 8 * plan_.bits;
    std::memcpy(call_.codes + begin, stream, static_cast<size_t>(end - begin));
  }

  const ForwardCall& call_;
  const ForwardPlan plan_;
  int64_t size_;
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

void activation_forward(const Activation& activation, const double* parameters,
                        const StepView& steps, ElementType type, const void* x, void* y,
                        uint8_t* codes, const Range& range) {
  const DefaultFloatingPoint arithmetic;
  HWY_DYNAMIC_DISPATCH(run_forward)
  ({&activation, parameters, &steps, nullptr, type, x, y, codes, range});
}

void activation_forward_unbiased(const Activation& activation, const double* parameters,
                                 const StepView& steps, PhiloxState random, ElementType type,
                                 const void* x, void* y, uint8_t* codes, const Range& range) {
  const DefaultFloatingPoint arithmetic;
  HWY_DYNAMIC_DISPATCH(run_forward)
  ({&activation, parameters, &steps, &random, type, x, y, codes, range});
}

}  // namespace fewbit::kernels
#endif
