#include <algorithm>
#include <cstring>

#include "kernels/floating_point_mode.hpp"
#include "kernels/quantizer/cpu/group_stages.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/quantizer/cpu/group_decode.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/stream/cpu/bits-inl.hpp"
#include "kernels/stream/cpu/elements-inl.hpp"
#include "kernels/stream/cpu/philox-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

/// The codes of the lanes from element i of a block on.
HWY_INLINE hn::Vec<IntTag> codes_at(const UnpackPlan& plan, int bits, const uint8_t* stream,
                                    int64_t i) {
  return unpack(plan, stream + i / 16 * 2 * bits, static_cast<size_t>(i % 16));
}

/// The elements [begin, end) of a block, of one group.
template <Rounding kRounding>
HWY_INLINE void decode_floats(const GroupDecoding<float>& decoding, const UnpackPlan& plan,
                              int bits, float largest, const uint8_t* stream, const uint32_t* words,
                              int64_t begin, int64_t end, float* x) {
  const FloatTag d;
  const IntTag di;
  const FloatVec minimum = hn::Set(d, decoding.minimum);
  const FloatVec step = hn::Set(d, decoding.step);
  const FloatVec unscale = hn::Set(d, decoding.unscale);
  const FloatVec highest = hn::Set(d, largest);
  const FloatVec lowest = hn::Set(d, -largest);
  for (int64_t i = begin; i < end; i += lane_count()) {
    FloatVec code = hn::ConvertTo(d, codes_at(plan, bits, stream, i));
    if constexpr (kRounding == Rounding::squares) code = hn::Mul(code, code);
    if constexpr (decoding_draws(kRounding)) {
      const auto word = hn::Load(UnsignedTag(), words + i);
      const auto addend = hn::BitCast(di, hn::ShiftRight<32 - kFractionBits>(word));
      const auto dither = hn::Sub(hn::Set(di, dither_of(0)), hn::Add(addend, addend));
      code = hn::Add(code, hn::Mul(hn::ConvertTo(d, dither), hn::Set(d, kDitherUnit)));
    }
    const FloatVec value = hn::Mul(hn::Add(minimum, hn::Mul(code, step)), unscale);
    hn::Store(max_or_nan(lowest, min_or_nan(highest, value)), d, x + i);
  }
}

/// One block after the other: codes and constants to floats, floats to the type.
class GroupDecodePass {
 public:
  explicit GroupDecodePass(const GroupDecodeCall& call)
      : call_(call),
        format_(*call.format),
        size_(element_bytes(format_.type)),
        past_cache_(stores_past_cache(call.range, format_.type, call.codes, call.x)),
        unpack_(format_.bits) {}

  void run() {
    const Range& range = call_.range;
    // The last block of the stream has no bytes after it to read.
    const int64_t inner = std::min(range.end, range.count - 1) / kBlock * kBlock;
    int64_t i = range.begin;
    auto* const to = static_cast<uint8_t*>(call_.x);
    for (; i < inner; i += kBlock) {
      if (!past_cache_) prefetch(to + (i + kBlock) * size_, kBlock * size_);
      decode(i, kBlock, call_.codes + i / 8 * format_.bits);
      past_cache_ ? store<true>(to + i * size_) : store<false>(to + i * size_);
    }
    if (past_cache_) hwy::FlushStream();
    if (i < range.end) run_last(i, to + i * size_);
  }

 private:
  void run_last(int64_t first, uint8_t* to) {
    const int64_t count = call_.range.end - first;
    uint8_t stream[kBitsBuffer] = {};
    alignas(64) uint8_t padded[kBlock * 8];
    const int64_t begin = first / 8 * format_.bits;
    std::memcpy(stream, call_.codes + begin,
                static_cast<size_t>(code_bytes(call_.range.count, format_.bits) - begin));
    decode(first, count, stream);
    store<false>(padded);
    std::memcpy(to, padded, static_cast<size_t>(count * size_));
  }

  /// A block of which `count` elements are real.
  void decode(int64_t first, int64_t count, const uint8_t* stream) {
    const Rounding rounding = format_.rounding;
    if (decoding_draws(rounding)) philox_block(format_.random, first, words_);
    if (format_.type == ElementType::f64) return decode_wide(first, count, stream);
    const int64_t group = std::min(format_.group, kBlock);
    const float largest = finite_limit(format_.type);
    const bool squares = rounding == Rounding::squares;
    const auto stage = decoding_draws(rounding) ? decode_floats<Rounding::dithered>
                       : squares                ? decode_floats<Rounding::squares>
                                                : decode_floats<Rounding::nearest>;
    for (int64_t begin = 0; begin < count; begin += group) {
      const auto constants =
          load_constants<float>(call_.constants, (first + begin) / format_.group);
      stage(GroupDecoding<float>(constants, format_.bits, squares), unpack_, format_.bits, largest,
            stream, words_, begin, begin + group, x_);
    }
  }

  void decode_wide(int64_t first, int64_t count, const uint8_t* stream) {
    for (int64_t i = 0; i < kBlock; i += lane_count()) {
      const auto code = codes_at(unpack_, format_.bits, stream, i);
      hn::StoreU(hn::DemoteTo(ByteTag(), code), ByteTag(), codes_ + i);
    }
    const int64_t group = std::min(format_.group, kBlock);
    for (int64_t begin = 0; begin < count; begin += group) {
      const auto constants =
          load_constants<double>(call_.constants, (first + begin) / format_.group);
      decode_doubles(format_, constants, codes_ + begin, words_ + begin, group, wide_ + begin);
    }
  }

  template <bool kPastCache>
  void store(uint8_t* to) const {
    switch (format_.type) {
      case ElementType::f32:
        return store_block<ElementType::f32, kPastCache>(x_, to);
      case ElementType::bf16:
        return store_block<ElementType::bf16, kPastCache>(x_, to);
      case ElementType::f16:
        return store_block<ElementType::f16, kPastCache>(x_, to);
      default:
        std::memcpy(to, wide_, sizeof wide_);
    }
  }

  const GroupDecodeCall& call_;
  const GroupFormat& format_;
  int64_t size_;
  bool past_cache_;
  UnpackPlan unpack_;
  alignas(64) float x_[kBlock] = {};
  alignas(64) double wide_[kBlock] = {};
  alignas(64) uint32_t words_[kBlock];
  alignas(64) uint8_t codes_[kBlock];
};

void run_group_decode(const GroupDecodeCall& call) {
  GroupDecodePass(call).run();
}

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fewbit::kernels {

HWY_EXPORT(run_group_decode);

void group_decode(const GroupFormat& format, const uint8_t* codes, const void* constants, void* x,
                  const Range& range) {
  const DefaultFloatingPoint arithmetic;
  HWY_DYNAMIC_DISPATCH(run_group_decode)({&format, codes, constants, x, range});
}

}  // namespace fewbit::kernels
#endif
