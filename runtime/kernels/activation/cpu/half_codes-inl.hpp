// Codes of 16-bit elements by comparing bit patterns. Included once per instruction set.
#if defined(FEWBIT_HALF_CODES_INL) == defined(HWY_TARGET_TOGGLE)
#if defined(FEWBIT_HALF_CODES_INL)
#undef FEWBIT_HALF_CODES_INL
#else
#define FEWBIT_HALF_CODES_INL
#endif

#include <cstring>

#include <hwy/highway.h>

#include "kernels/activation/cpu/half_plan.hpp"
#include "kernels/stream/cpu/bits-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// The first code plus the change of code at every threshold passed.
class CodesBySum {
 public:
  HWY_INLINE explicit CodesBySum(const HalfPlan& plan) : plan_(plan) {}

  HWY_INLINE void operator()(const uint16_t* x, uint8_t* codes) const {
    const hn::CappedTag<int16_t, kHalves> d;
    const hn::Rebind<uint8_t, decltype(d)> db;
    const auto magnitude = hn::Set(d, 0x7FFF);
    const auto offset = hn::Set(d, plan_.lane_offset());
    const auto keep = hn::Set(d, plan_.even ? int16_t{0x7FFF} : int16_t{-1});
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    for (int64_t i = 0; i < kHalves; i += lanes) {
      const auto v = hn::And(hn::LoadU(d, reinterpret_cast<const int16_t*>(x) + i), keep);
      const auto flip = hn::And(hn::BroadcastSignBit(v), magnitude);
      const auto lane = hn::Add(hn::Xor(v, flip), offset);
      auto code = hn::Set(d, plan_.first);
      for (int t = 0; t < plan_.count; ++t) {
        const auto passed = hn::Gt(lane, hn::Set(d, plan_.threshold[t]));
        code = hn::Add(code, hn::IfThenElseZero(passed, hn::Set(d, plan_.change[t])));
      }
      if (plan_.nan_change != 0) {
        const auto is_nan = hn::Gt(hn::And(v, magnitude), hn::Set(d, plan_.infinity));
        code = hn::Add(code, hn::IfThenElseZero(is_nan, hn::Set(d, plan_.nan_change)));
      }
      hn::StoreU(hn::DemoteTo(db, code), db, codes + i);
    }
  }

 private:
  const HalfPlan& plan_;
};

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
/// The steps of the element's cell of a grid, by permutations of two registers.
template <int kPerCell, int kCodeShift>
class CodesByGrid {
 public:
  HWY_INLINE explicit CodesByGrid(const HalfPlan& plan)
      : keep_(_mm512_set1_epi16(plan.even ? 0x7FFF : -1)),
        base_(_mm512_set1_epi16(static_cast<int16_t>(2 * plan.grid.base))),
        last_(
            _mm512_set1_epi16(static_cast<int16_t>((2 * HalfGrid::kCells << plan.grid.shift) - 1))),
        per_cell_(_mm512_set1_epi16(static_cast<int16_t>(0x8000 >> plan.grid.shift))),
        codes_{_mm512_load_si512(plan.grid.codes),
               _mm512_load_si512(plan.grid.codes + HalfGrid::kCells)} {
    for (int j = 0; j < kPerCell; ++j) {
      threshold_[j][0] = _mm512_load_si512(plan.grid.threshold[j]);
      threshold_[j][1] = _mm512_load_si512(plan.grid.threshold[j] + HalfGrid::kCells);
    }
  }

  HWY_INLINE void operator()(const uint16_t* x, uint8_t* codes) const {
    const __m512i v = _mm512_and_si512(_mm512_loadu_si512(x), keep_);
    const __m512i doubled = _mm512_add_epi16(v, v);  // no sign
    const __m512i beyond = _mm512_min_epu16(_mm512_subs_epu16(doubled, base_), last_);
    // The product's upper half: shifts by numbers in registers take longer.
    const __m512i outwards = _mm512_mulhi_epu16(beyond, per_cell_);
    constexpr int kFirstOrBothOthers = 0xF8;
    const __m512i side = _mm512_set1_epi16(HalfGrid::kCells);
    const __m512i cell =
        _mm512_ternarylogic_epi32(outwards, _mm512_srli_epi16(v, 10), side, kFirstOrBothOthers);
    __m512i found = _mm512_permutex2var_epi16(codes_[0], cell, codes_[1]);
    for (int j = 0; j < kPerCell; ++j) {
      const __m512i t = _mm512_permutex2var_epi16(threshold_[j][0], cell, threshold_[j][1]);
      const __mmask32 passed = _mm512_cmpgt_epi16_mask(v, t);
      found = _mm512_mask_srli_epi16(found, passed, found, kCodeShift);
    }
    if constexpr (kCodeShift == 4) found = _mm512_and_si512(found, _mm512_set1_epi16(15));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(codes), _mm512_cvtepi16_epi8(found));
  }

 private:
  __m512i keep_;
  __m512i base_;
  __m512i last_;
  __m512i per_cell_;
  __m512i codes_[2];
  __m512i threshold_[kPerCell][2];
};
#endif

/// The codes of kHalves elements to the stream, which it moves on.
template <class Codes>
class HalfStream {
 public:
  HWY_INLINE explicit HalfStream(const HalfPlan& plan) : codes_(plan), bits_(plan.bits) {}

  HWY_INLINE void operator()(const uint16_t* x, uint8_t*& stream) const {
    HWY_ALIGN uint8_t codes[kHalves];
    codes_(x, codes);
    pack(codes, kHalves, bits_, stream);
    stream += kHalves / 8 * bits_;
  }

 private:
  Codes codes_;
  int bits_;
};

struct NoHalfStream {
  HWY_INLINE explicit NoHalfStream(const HalfPlan&) {}
  HWY_INLINE void operator()(const uint16_t*, uint8_t*&) const {}
};

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
/// One bit: the first code, flipped by every threshold passed at which the code changes, and for a
/// NaN where that has the other code.
class HalfBits {
 public:
  HWY_INLINE explicit HalfBits(const HalfPlan& plan)
      : plan_(plan),
        keep_(_mm512_set1_epi16(plan.even ? 0x7FFF : -1)),
        offset_(_mm512_set1_epi16(plan.lane_offset())),
        first_(plan.first ? ~uint32_t{0} : 0) {}

  HWY_INLINE void operator()(const uint16_t* x, uint8_t*& stream) const {
    const __m512i magnitude = _mm512_set1_epi16(0x7FFF);
    const __m512i v = _mm512_and_si512(_mm512_loadu_si512(x), keep_);
    const __m512i flip = _mm512_and_si512(_mm512_srai_epi16(v, 15), magnitude);
    const __m512i lane = _mm512_add_epi16(_mm512_xor_si512(v, flip), offset_);
    uint32_t bits = first_;
    for (int t = 0; t < plan_.count; ++t) {
      if (plan_.change[t] == 0) continue;
      bits ^= _mm512_cmpgt_epi16_mask(lane, _mm512_set1_epi16(plan_.threshold[t]));
    }
    if (plan_.nan_change != 0) {
      bits ^= _mm512_cmpgt_epi16_mask(_mm512_and_si512(v, magnitude),
                                      _mm512_set1_epi16(plan_.infinity));
    }
    std::memcpy(stream, &bits, sizeof bits);
    stream += sizeof bits;
  }

 private:
  const HalfPlan& plan_;
  __m512i keep_;
  __m512i offset_;
  uint32_t first_;
};
#endif

/// The stream of a block's codes.
using HalfCodesStage = void(const HalfPlan& plan, const void* x, uint8_t* stream);

template <class Stream>
void encode_halves(const HalfPlan& plan, const void* x, uint8_t* stream) {
  const Stream encode(plan);
  for (int64_t i = 0; i < kBlock; i += kHalves) {
    encode(static_cast<const uint16_t*>(x) + i, stream);
  }
}

/// pick<Stream>() for the way to find codes that is fastest for the plan.
template <class Pick>
auto with_stream([[maybe_unused]] const HalfPlan& plan, const Pick& pick) {
  const auto of = [&]<class Codes>() { return pick.template operator()<HalfStream<Codes>>(); };
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  constexpr int kFew = 2;
  if (plan.bits == 1) return pick.template operator()<HalfBits>();
  if (plan.count > kFew && plan.grid.per_cell > 0) {
    if (plan.grid.code_shift == 8) return of.template operator()<CodesByGrid<1, 8>>();
    if (plan.grid.per_cell == 1) return of.template operator()<CodesByGrid<1, 4>>();
    if (plan.grid.per_cell == 2) return of.template operator()<CodesByGrid<2, 4>>();
    return of.template operator()<CodesByGrid<3, 4>>();
  }
#endif
  return of.template operator()<CodesBySum>();
}

inline HalfCodesStage* half_codes_stage(const HalfPlan& plan) {
  return with_stream(plan, []<class Stream>() -> HalfCodesStage* { return encode_halves<Stream>; });
}

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
