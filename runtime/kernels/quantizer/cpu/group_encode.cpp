#include <algorithm>
#include <cstring>

#include "kernels/floating_point_mode.hpp"
#include "kernels/quantizer/cpu/group_stages.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/quantizer/cpu/group_encode.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/stream/cpu/bits-inl.hpp"
#include "kernels/stream/cpu/elements-inl.hpp"
#include "kernels/stream/cpu/philox-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

/// The extremes of a group of floats, a multiple of 32; NaNs where one is not finite. Magnitudes
/// are compared as integers, which order as they do, infinity and NaN last.
inline GroupConstants<float> constants_of_group(const float* x, int64_t count) {
  const FloatTag d;
  const IntTag di;
  const auto magnitude = [&](FloatVec v) HWY_ATTR { return hn::BitCast(di, hn::Abs(v)); };
  FloatPair low = load_pair(x);
  FloatPair high = low;
  auto largest = hn::Max(magnitude(low[0]), magnitude(low[1]));
  for (int64_t i = 2 * lane_count(); i < count; i += 2 * lane_count()) {
    const FloatPair v = load_pair(x + i);
    for_pair([&](int k) HWY_ATTR {
      low[k] = hn::Min(low[k], v[k]);
      high[k] = hn::Max(high[k], v[k]);
      largest = hn::Max(largest, magnitude(v[k]));
    });
  }
  constexpr int32_t kInfinity = 0x7F800000;
  if (hn::GetLane(hn::MaxOfLanes(di, largest)) >= kInfinity) return not_a_number<float>();
  return constants_of(hn::GetLane(hn::MinOfLanes(d, hn::Min(low[0], low[1]))),
                      hn::GetLane(hn::MaxOfLanes(d, hn::Max(high[0], high[1]))));
}

/// t in units of 2^-kFractionBits, between levels at squares.
HWY_INLINE hn::Vec<IntTag> place_of_squares(FloatVec t, FloatVec largest) {
  const FloatTag d;
  const IntTag di;
  constexpr float kUnits = 1 << kFractionBits;
  const FloatVec w =
      hn::Mul(hn::Mul(t, hn::Set(d, 1 / kUnits)), hn::Mul(largest, hn::Set(d, 1 / kUnits)));
  const FloatVec whole = hn::Floor(hn::Sqrt(w));
  const FloatVec part =
      hn::Div(hn::Sub(w, hn::Mul(whole, whole)), hn::Add(hn::Add(whole, whole), hn::Set(d, 1.0f)));
  return hn::Add(hn::ShiftLeft<kFractionBits>(hn::ConvertTo(di, whole)),
                 hn::NearestInt(hn::Mul(part, hn::Set(d, kUnits))));
}

/// The codes of a group's floats.
template <Rounding kRounding>
void encode_floats(const GroupEncoding<float>& encoding, const float* x, const uint32_t* words,
                   int64_t count, uint8_t* codes) {
  const FloatTag d;
  const IntTag di;
  const FloatVec scale = hn::Set(d, encoding.scale);
  const FloatVec minimum = hn::Set(d, encoding.minimum);
  const FloatVec per_unit = hn::Set(d, encoding.per_unit);
  const FloatVec largest = hn::Set(d, encoding.largest);
  for (int64_t i = 0; i < count; i += lane_count()) {
    const FloatVec from_minimum = hn::Sub(hn::Mul(hn::Load(d, x + i), scale), minimum);
    const FloatVec t = hn::Mul(from_minimum, per_unit);
    const FloatVec inside = hn::Min(hn::Max(t, hn::Zero(d)), largest);
    const auto place =
        kRounding == Rounding::squares ? place_of_squares(inside, largest) : hn::NearestInt(inside);
    auto addend = hn::Set(di, kHalf);
    if constexpr (encoding_draws(kRounding)) {
      const auto word = hn::Load(UnsignedTag(), words + i);
      addend = hn::BitCast(di, hn::ShiftRight<32 - kFractionBits>(word));
    }
    const auto code = hn::ShiftRight<kFractionBits>(hn::Add(place, addend));
    hn::StoreU(hn::DemoteTo(ByteTag(), code), ByteTag(), codes + i);
  }
}

/// One unit after the other: loaded as floats, encoded group by group into bytes, packed.
class GroupEncodePass {
 public:
  explicit GroupEncodePass(const GroupEncodeCall& call)
      : call_(call),
        format_(*call.format),
        unit_(encode_unit(format_.group)),
        size_(element_bytes(format_.type)) {}

  void run() {
    const Range& range = call_.range;
    for (int64_t i = range.begin; i < range.end; i += unit_) {
      const int64_t count = std::min(unit_, range.end - i);
      prefetch_ahead(static_cast<const uint8_t*>(call_.x) + i * size_, count * size_);
      load(i, count);
      draw(i);
      const int64_t groups = group_count(count, format_.group);
      for (int64_t k = 0; k < groups; ++k) encode_group(i / format_.group + k, k * format_.group);
      std::memset(codes_ + count, 0, static_cast<size_t>(unit_ - count));
      store(i, count);
    }
  }

 private:
  bool is_double() const { return format_.type == ElementType::f64; }

  /// A short group is filled up with its first element, which changes none of its extremes.
  void load(int64_t first, int64_t count) {
    const auto* from = static_cast<const uint8_t*>(call_.x) + first * size_;
    const auto bytes = static_cast<size_t>(count * size_);
    in_unit_ = count;
    if (is_double()) {
      std::memcpy(wide_, from, bytes);
      return;
    }
    if (count < unit_) {
      std::memcpy(padded_, from, bytes);
      from = padded_;
    }
    for (int64_t i = 0; i < count; i += kBlock) load_floats(from + i * size_, x_ + i);
    const int64_t start = count / format_.group * format_.group;
    if (count > start) std::fill(x_ + count, x_ + start + format_.group, x_[start]);
  }

  void load_floats(const uint8_t* from, float* x) const {
    switch (format_.type) {
      case ElementType::bf16:
        return load_block<ElementType::bf16>(from, x);
      case ElementType::f16:
        return load_block<ElementType::f16>(from, x);
      default:
        return load_block<ElementType::f32>(from, x);
    }
  }

  void draw(int64_t first) {
    if (!encoding_draws(format_.rounding)) return;
    for (int64_t i = 0; i < unit_; i += kBlock) {
      philox_block(format_.random, first + i, words_ + i);
    }
  }

  /// The group with this number, which begins at `at` in the unit.
  void encode_group(int64_t group, int64_t at) {
    if (is_double()) {
      const int64_t count = std::min(format_.group, in_unit_ - at);
      const auto constants = encode_doubles(format_, wide_ + at, words_ + at, count, codes_ + at);
      return store_constants(constants, call_.constants, group);
    }
    const GroupConstants<float> constants = constants_of_group(x_ + at, format_.group);
    store_constants(constants, call_.constants, group);
    if (std::isnan(constants.minimum)) {
      std::memset(codes_ + at, 0, static_cast<size_t>(format_.group));
      return;
    }
    const auto encode = format_.rounding == Rounding::nearest ? encode_floats<Rounding::nearest>
                        : format_.rounding == Rounding::squares
                            ? encode_floats<Rounding::squares>
                            : encode_floats<Rounding::stochastic>;
    encode(GroupEncoding<float>(constants, format_.bits), x_ + at, words_ + at, format_.group,
           codes_ + at);
  }

  /// Of a short unit through a copy, for its neighbour in the stream may be another thread's.
  void store(int64_t first, int64_t count) {
    const int64_t begin = first / 8 * format_.bits;
    if (count == unit_ && first + count < call_.range.end) {
      return pack(codes_, unit_, format_.bits, call_.codes + begin);
    }
    const bool is_last = first + count == call_.range.count;
    const int64_t end =
        is_last ? code_bytes(call_.range.count, format_.bits) : (first + count) / 8 * format_.bits;
    pack(codes_, unit_, format_.bits, stream_);
    std::memcpy(call_.codes + begin, stream_, static_cast<size_t>(end - begin));
  }

  const GroupEncodeCall& call_;
  const GroupFormat& format_;
  int64_t unit_;
  int64_t size_;
  int64_t in_unit_ = 0;  ///< elements that are the tensor's
  alignas(64) float x_[kMaxGroup];
  alignas(64) uint32_t words_[kMaxGroup];
  alignas(64) double wide_[kMaxGroup];
  alignas(64) uint8_t padded_[kMaxGroup * 4] = {};
  alignas(64) uint8_t codes_[kMaxGroup];
  uint8_t stream_[kMaxGroup + 16] = {};
};

void run_group_encode(const GroupEncodeCall& call) {
  GroupEncodePass(call).run();
}

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fewbit::kernels {

HWY_EXPORT(run_group_encode);

void group_encode(const GroupFormat& format, const void* x, uint8_t* codes, void* constants,
                  const Range& range) {
  const DefaultFloatingPoint arithmetic;
  HWY_DYNAMIC_DISPATCH(run_group_encode)({&format, x, codes, constants, range});
}

}  // namespace fewbit::kernels
#endif
