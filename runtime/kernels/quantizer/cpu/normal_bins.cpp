#include "kernels/quantizer/normal_bins.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/floating_point_mode.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/quantizer/cpu/normal_bins.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/stream/cpu/bits-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

/// Numbers of a cycle for each element of a block.
class BlockNumbers {
 public:
  BlockNumbers(const Cycle& cycle, const float* numbers) : cycle_(cycle), numbers_(numbers) {}

  /// For the block that begins at element i.
  void move_to(int64_t i) {
    if (i >= begin_ && i + kBlock <= end_) return;  // all are one number still
    begin_ = end_ = 0;
    for (int64_t filled = 0; filled < kBlock;) filled += fill(i + filled, kBlock - filled, filled);
  }

  HWY_INLINE FloatVec at(int64_t i) const { return hn::Load(FloatTag(), of_ + i); }

 private:
  /// At most `room` of them from element i on; how many.
  int64_t fill(int64_t i, int64_t room, int64_t place) {
    const int64_t index = i / cycle_.run % cycle_.count;
    if (cycle_.run == 1) {
      const int64_t count = std::min(cycle_.count - index, room);
      std::copy_n(numbers_ + index, count, of_ + place);
      return count;
    }
    const int64_t end = (i / cycle_.run + 1) * cycle_.run;
    const int64_t count = std::min(end - i, room);
    std::fill_n(of_ + place, count, numbers_[index]);
    if (count == kBlock) {
      begin_ = i;
      end_ = end;
    }
    return count;
  }

  Cycle cycle_;
  const float* numbers_;
  int64_t begin_ = 0, end_ = 0;  ///< elements that have the number which fills the block
  alignas(64) float of_[kBlock];
};

/// All that a block needs.
struct BlockBins {
  BlockNumbers mean, scale, sign, zero, first, shift;
  int bits;
  float width;

  explicit BlockBins(const NormalBins& bins)
      : mean(bins.statistics, bins.mean),
        scale(bins.statistics, bins.scale),
        sign(bins.weights, bins.sign),
        zero(bins.weights, bins.zero),
        first(bins.weights, bins.first),
        shift(bins.weights, bins.shift),
        bits(bins.bits),
        width(bins.width) {}

  void move_to(int64_t i) {
    for (BlockNumbers* numbers : {&mean, &scale, &sign, &zero, &first, &shift}) numbers->move_to(i);
  }
};

/// A block of which `count` elements are real.
template <ElementType kType>
void encode_block(const BlockBins& bins, const typename Element<kType>::Stored* x, int64_t count,
                  uint8_t* stream) {
  const FloatTag d;
  alignas(64) uint8_t codes[kBlock];
  const auto none = hn::Zero(d), one = hn::Set(d, 1.0f);
  const auto last = hn::Set(d, static_cast<float>((1 << bins.bits) - 1));
  const auto steps = hn::Set(d, 1.0f / bins.width);
  for (int64_t i = 0; i < kBlock; i += static_cast<int64_t>(hn::Lanes(d))) {
    const auto centred = hn::Sub(Element<kType>::load(x + i), bins.mean.at(i));
    const auto u = hn::Mul(hn::Mul(centred, bins.scale.at(i)), bins.sign.at(i));
    const auto place = hn::Floor(hn::Mul(hn::Sub(u, bins.first.at(i)), steps));
    const auto code = hn::Min(hn::Max(place, none), last);
    const auto shift = bins.shift.at(i);
    const auto right = hn::IfThenElse(hn::Ge(u, bins.zero.at(i)), hn::Max(code, shift),
                                      hn::Min(code, hn::Sub(shift, one)));
    const auto whole = hn::IfThenElseZero(hn::Eq(u, u), right);
    hn::StoreU(hn::DemoteTo(ByteTag(), hn::ConvertTo(IntTag(), whole)), ByteTag(), codes + i);
  }
  std::fill(codes + count, codes + kBlock, uint8_t{0});
  pack(codes, kBlock, bins.bits, stream);
}

template <ElementType kType>
void decode_block(const BlockBins& bins, const UnpackPlan& plan, const uint8_t* stream,
                  typename Element<kType>::Stored* x) {
  const FloatTag d;
  const auto width = hn::Set(d, bins.width), half = hn::Set(d, 0.5f);
  const auto beyond = hn::Mul(width, half);
  const auto largest = hn::Set(d, finite_limit(kType)), least = hn::Neg(largest);
  const auto nan = hn::Set(d, std::numeric_limits<float>::quiet_NaN());
  const auto decoded = [&](int64_t i) HWY_ATTR {
    const auto code = hn::ConvertTo(
        d, unpack(plan, stream + i / 16 * 2 * bins.bits, static_cast<size_t>(i % 16)));
    const auto middle = hn::Add(hn::Mul(hn::Add(code, half), width), bins.first.at(i));
    const auto zero = bins.zero.at(i);
    const auto u =
        hn::IfThenElse(hn::Ge(code, bins.shift.at(i)), hn::Max(middle, hn::Add(zero, beyond)),
                       hn::Min(middle, hn::Sub(zero, beyond)));
    const auto centred = hn::Mul(hn::Mul(u, bins.sign.at(i)), bins.scale.at(i));
    const auto value = min_or_nan(largest, max_or_nan(least, hn::Add(centred, bins.mean.at(i))));
    return hn::IfThenElse(hn::Eq(value, value), value, nan);  // one NaN on every device
  };
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < kBlock; i += 2 * lanes) {
    Element<kType>::template store<false>(decoded(i), decoded(i + lanes), x + i);
  }
}

template <ElementType kType>
void encode_range(const NormalBins& bins, const void* x, uint8_t* codes, const Range& range) {
  using Stored = typename Element<kType>::Stored;
  const auto* from = static_cast<const Stored*>(x);
  BlockBins block(bins);
  uint8_t stream[kBitsBuffer] = {};
  Stored padded[kBlock] = {};
  for (int64_t i = range.begin; i < range.end; i += kBlock) {
    const int64_t count = std::min(kBlock, range.end - i);
    block.move_to(i);
    const Stored* elements = from + i;
    if (count < kBlock) {  // the last one
      std::fill(stream, stream + kBitsBuffer, uint8_t{0});
      std::memcpy(padded, elements, static_cast<size_t>(count) * sizeof(Stored));
      elements = padded;
    }
    encode_block<kType>(block, elements, count, stream);
    const int64_t begin = i / 8 * bins.bits;
    const int64_t end =
        i + count == range.count ? code_bytes(range.count, bins.bits) : (i + count) / 8 * bins.bits;
    std::memcpy(codes + begin, stream, static_cast<size_t>(end - begin));
  }
}

template <ElementType kType>
void decode_range(const NormalBins& bins, const uint8_t* codes, void* x, const Range& range) {
  using Stored = typename Element<kType>::Stored;
  auto* to = static_cast<Stored*>(x);
  const UnpackPlan plan(bins.bits);
  BlockBins block(bins);
  for (int64_t i = range.begin; i < range.end; i += kBlock) {
    const int64_t count = std::min(kBlock, range.end - i);
    block.move_to(i);
    const uint8_t* stream = codes + i / 8 * bins.bits;
    if (i + kBlock < range.count) {
      decode_block<kType>(block, plan, stream, to + i);
      continue;
    }
    // The last block of the stream has no bytes after it to read.
    uint8_t ended[kBitsBuffer] = {};
    alignas(64) Stored padded[kBlock];
    std::memcpy(ended, stream,
                static_cast<size_t>(code_bytes(range.count, bins.bits) - i / 8 * bins.bits));
    decode_block<kType>(block, plan, ended, padded);
    std::memcpy(to + i, padded, static_cast<size_t>(count) * sizeof(Stored));
  }
}

void run_bins_encode(ElementType type, const NormalBins& bins, const void* x, uint8_t* codes,
                     const Range& range) {
  switch (type) {
    case ElementType::bf16:
      return encode_range<ElementType::bf16>(bins, x, codes, range);
    case ElementType::f16:
      return encode_range<ElementType::f16>(bins, x, codes, range);
    default:
      return encode_range<ElementType::f32>(bins, x, codes, range);
  }
}

void run_bins_decode(ElementType type, const NormalBins& bins, const uint8_t* codes, void* x,
                     const Range& range) {
  switch (type) {
    case ElementType::bf16:
      return decode_range<ElementType::bf16>(bins, codes, x, range);
    case ElementType::f16:
      return decode_range<ElementType::f16>(bins, codes, x, range);
    default:
      return decode_range<ElementType::f32>(bins, codes, x, range);
  }
}

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fewbit::kernels {

HWY_EXPORT(run_bins_encode);
HWY_EXPORT(run_bins_decode);

void normal_bins_encode(ElementType type, const NormalBins& bins, const void* x, uint8_t* codes,
                        const Range& range) {
  const DefaultFloatingPoint mode;
  HWY_DYNAMIC_DISPATCH(run_bins_encode)(type, bins, x, codes, range);
}

void normal_bins_decode(ElementType type, const NormalBins& bins, const uint8_t* codes, void* x,
                        const Range& range) {
  const DefaultFloatingPoint mode;
  HWY_DYNAMIC_DISPATCH(run_bins_decode)(type, bins, codes, x, range);
}

}  // namespace fewbit::kernels
#endif
