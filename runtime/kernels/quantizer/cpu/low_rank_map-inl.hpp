// What lies in few directions of channels, off a group's elements and back. Included once per
// instruction set.
#if defined(FEWBIT_LOW_RANK_MAP_INL) == defined(HWY_TARGET_TOGGLE)
#if defined(FEWBIT_LOW_RANK_MAP_INL)
#undef FEWBIT_LOW_RANK_MAP_INL
#else
#define FEWBIT_LOW_RANK_MAP_INL
#endif

#include <algorithm>
#include <cmath>

#include "kernels/quantizer/low_rank.hpp"
#include "kernels/quantizer/rotated.hpp"
#include "kernels/stream/cpu/elements-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

class LowRankMap {
 public:
  LowRankMap(const LowRank& low_rank, int64_t group) : of_(low_rank), group_(group) {}

  /// Off the first `count` elements of group `index`, floats; zeros behind them. to: may be x.
  void take(int64_t index, int64_t count, const float* x, float* to) const {
    for_segments(index, count, x, to,
                 [](FloatVec v, FloatVec part) HWY_ATTR { return hn::Sub(v, part); });
    std::fill(to + count, to + group_, 0.0f);
  }

  /// Back to them, no further from 0 than `limit` (a NaN stays one).
  void put_back(int64_t index, int64_t count, float limit, float* x) const {
    const FloatVec most = hn::Set(FloatTag(), limit), least = hn::Neg(most);
    for_segments(index, count, x, x, [&](FloatVec v, FloatVec part) HWY_ATTR {
      return max_or_nan(least, min_or_nan(most, hn::Add(v, part)));
    });
  }

 private:
  /// Elements whose parts are sums of the same numbers times what lies one after the other.
  struct Segment {
    float numbers[kMostDirections];
    const float* vectors;
    int64_t stride;  ///< of them
  };

  /// Those of element `place` of a block.
  Segment segment_of(int64_t block, int64_t place) const {
    const Directions& of = of_.directions;
    const auto [channels, inner] = of.place;
    const float* const coefficients = of_.coefficients + block * of.count * inner;
    Segment segment;
    if (inner == 1) {
      std::copy_n(coefficients, of.count, segment.numbers);
      segment.vectors = of.basis + place;
      segment.stride = of.stride;
    } else {
      const int64_t channel = place / inner;
      for (int j = 0; j < of.count; ++j) {
        segment.numbers[j] = of.basis[j * of.stride + channel];
      }
      segment.vectors = coefficients + place % inner;
      segment.stride = inner;
    }
    return segment;
  }

  template <class Apply>
  HWY_INLINE void for_segments(int64_t index, int64_t count, const float* x, float* to,
                               const Apply& apply) const {
    const int64_t size = of_.directions.place.block();
    const int64_t inner = of_.directions.place.inner;
    const int64_t from = of_.first + index * group_;
    int64_t block = from / size;
    int64_t place = from % size;
    while (count > 0) {
      const int64_t left = inner == 1 ? size - place : inner - place % inner;
      const int64_t length = std::min(left, count);
      run(segment_of(block, place), length, x, to, apply);
      x += length;
      to += length;
      count -= length;
      place += length;
      if (place == size) {
        place = 0;
        ++block;
      }
    }
  }

  template <class Apply>
  HWY_INLINE void run(const Segment& segment, int64_t length, const float* x, float* to,
                      const Apply& apply) const {
    const FloatTag d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    int64_t i = 0;
    // Four at a time, so that none waits for its own sum.
    for (; i + 4 * lanes <= length; i += 4 * lanes) {
      FloatVec a = hn::Zero(d), b = a, c = a, e = a;
      for (int j = 0; j < of_.directions.count; ++j) {
        const FloatVec number = hn::Set(d, segment.numbers[j]);
        const float* const from = segment.vectors + j * segment.stride + i;
        a = fused_multiply_add(number, hn::LoadU(d, from), a);
        b = fused_multiply_add(number, hn::LoadU(d, from + lanes), b);
        c = fused_multiply_add(number, hn::LoadU(d, from + 2 * lanes), c);
        e = fused_multiply_add(number, hn::LoadU(d, from + 3 * lanes), e);
      }
      hn::StoreU(apply(hn::LoadU(d, x + i), a), d, to + i);
      hn::StoreU(apply(hn::LoadU(d, x + i + lanes), b), d, to + i + lanes);
      hn::StoreU(apply(hn::LoadU(d, x + i + 2 * lanes), c), d, to + i + 2 * lanes);
      hn::StoreU(apply(hn::LoadU(d, x + i + 3 * lanes), e), d, to + i + 3 * lanes);
    }
    for (; i + lanes <= length; i += lanes) {
      FloatVec part = hn::Zero(d);
      for (int j = 0; j < of_.directions.count; ++j) {
        const float* const from = segment.vectors + j * segment.stride + i;
        part = fused_multiply_add(hn::Set(d, segment.numbers[j]), hn::LoadU(d, from), part);
      }
      hn::StoreU(apply(hn::LoadU(d, x + i), part), d, to + i);
    }
    if (i < length) run_rest(segment, i, length - i, x + i, to + i, apply);
  }

  /// Fewer than a vector.
  template <class Apply>
  HWY_INLINE void run_rest(const Segment& segment, int64_t first, int64_t count, const float* x,
                           float* to, const Apply& apply) const {
    const FloatTag d;
    alignas(64) float parts[16] = {}, elements[16] = {};
    std::copy_n(x, count, elements);
    for (int j = 0; j < of_.directions.count; ++j) {
      const float* const from = segment.vectors + j * segment.stride + first;
      for (int64_t i = 0; i < count; ++i) {
        parts[i] = std::fma(segment.numbers[j], from[i], parts[i]);
      }
    }
    hn::Store(apply(hn::Load(d, elements), hn::Load(d, parts)), d, elements);
    std::copy_n(elements, count, to);
  }

  const LowRank& of_;
  int64_t group_;
};

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
