// The code of every element of a block. Included once per instruction set.
#if defined(FEWBIT_SEARCH_INL) == defined(HWY_TARGET_TOGGLE)
#if defined(FEWBIT_SEARCH_INL)
#undef FEWBIT_SEARCH_INL
#else
#define FEWBIT_SEARCH_INL
#endif

#include <cmath>

#include "kernels/activation/cpu/encode_plan.hpp"
#include "kernels/stream/cpu/elements-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

/// Codes of floats straight from memory: one a byte, or the stream of one-bit codes.
using DirectStage = void(const EncodePlan& plan, const void* x, uint8_t* to);

HWY_INLINE FloatVec load_compared(const EncodePlan& plan, const float* x) {
  const FloatVec v = hn::LoadU(FloatTag(), x);
  return plan.even ? hn::Abs(v) : v;
}

HWY_INLINE void store_codes(hn::Vec<IntTag> codes, uint8_t* to) {
  hn::StoreU(hn::DemoteTo(ByteTag(), codes), ByteTag(), to);
}

/// The code of the lowest interval changed to a NaN's where x is one.
HWY_INLINE hn::Vec<IntTag> with_nan_code(const EncodePlan& plan, FloatVec x, hn::Vec<IntTag> code) {
  const IntTag di;
  const auto is_nan = hn::RebindMask(di, hn::IsNaN(x));
  return hn::Add(code, hn::IfThenElseZero(is_nan, hn::Set(di, plan.nan_change)));
}

/// Few thresholds: the first code plus the change of code at every threshold passed.
inline void encode_by_sum(const EncodePlan& plan, int64_t, const float* x, uint8_t* codes) {
  const FloatTag d;
  const IntTag di;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < kBlock; i += 2 * lanes) {
    const FloatVec x0 = load_compared(plan, x + i);
    const FloatVec x1 = load_compared(plan, x + i + lanes);
    auto code0 = hn::Set(di, plan.codes[0]);
    auto code1 = code0;
    for (int t = 0; t < plan.threshold_count; ++t) {
      const FloatVec threshold = hn::Set(d, plan.thresholds[t]);
      const auto change = hn::Set(di, plan.codes[t + 1] - plan.codes[t]);
      const auto passed0 = hn::RebindMask(di, hn::Gt(x0, threshold));
      const auto passed1 = hn::RebindMask(di, hn::Gt(x1, threshold));
      code0 = hn::Add(code0, hn::IfThenElseZero(passed0, change));
      code1 = hn::Add(code1, hn::IfThenElseZero(passed1, change));
    }
    if (plan.nan_change != 0) {
      code0 = with_nan_code(plan, x0, code0);
      code1 = with_nan_code(plan, x1, code1);
    }
    store_codes(code0, codes + i);
    store_codes(code1, codes + i + lanes);
  }
}

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
/// The thresholds of the element's cell of a grid, by permutations of two registers.
template <int kPerCell>
class FloatCodesByGrid {
 public:
  HWY_INLINE explicit FloatCodesByGrid(const EncodePlan& plan)
      : keep_(_mm512_set1_epi32(plan.even ? 0x7FFFFFFF : -1)),
        scale_(hn::Set(FloatTag(), plan.grid.scale)),
        shift_(hn::Set(FloatTag(), plan.grid.shift)),
        low_(hn::Set(FloatTag(), plan.grid.low)),
        high_(hn::Set(FloatTag(), plan.grid.high)),
        codes_{_mm512_load_si512(plan.grid.codes), _mm512_load_si512(plan.grid.codes + 16)} {
    for (int j = 0; j < kPerCell; ++j) {
      threshold_[j][0] = _mm512_load_ps(plan.grid.threshold[j]);
      threshold_[j][1] = _mm512_load_ps(plan.grid.threshold[j] + 16);
    }
  }

  /// One a byte.
  HWY_INLINE void operator()(const FloatPair& x, uint8_t* codes) const {
    FloatPair v;
    __m512i cell[2];
    __m512i found[2];
    for_pair([&](int i) HWY_ATTR {
      v[i].raw = _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(x[i].raw), keep_));
      // Of a NaN and a number, the second operand is taken: NaN goes to the first cell.
      const FloatVec clamped = hn::Min(hn::Max(v[i], low_), high_);
      cell[i] = _mm512_castps_si512(hn::MulAdd(clamped, scale_, shift_).raw);
    });
    for_pair([&](int i)
                 HWY_ATTR { found[i] = _mm512_permutex2var_epi32(codes_[0], cell[i], codes_[1]); });
    for (int j = 0; j < kPerCell; ++j) {
      for_pair([&](int i) HWY_ATTR {
        const __m512 t = _mm512_permutex2var_ps(threshold_[j][0], cell[i], threshold_[j][1]);
        const __mmask16 passed = _mm512_cmp_ps_mask(v[i].raw, t, _CMP_GT_OQ);
        found[i] = _mm512_mask_srli_epi32(found[i], passed, found[i], 8);
      });
    }
    // By one store: a load of all of them waits for two.
    const __m256i both = _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm512_cvtepi32_epi8(found[0])), _mm512_cvtepi32_epi8(found[1]), 1);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(codes), both);
  }

 private:
  __m512i keep_;
  FloatVec scale_;
  FloatVec shift_;
  FloatVec low_;
  FloatVec high_;
  __m512i codes_[2];
  __m512 threshold_[kPerCell][2];
};

template <int kPerCell>
void encode_by_grid(const EncodePlan& plan, const void* x, uint8_t* codes) {
  const FloatCodesByGrid<kPerCell> encode(plan);
  for (int64_t i = 0; i < kBlock; i += 32) {
    encode(load_pair(static_cast<const float*>(x) + i), codes + i);
  }
}

/// One bit: the first code, flipped by every threshold passed at which the code changes, and for a
/// NaN where that has the other code. Writes the stream itself.
inline void encode_one_bit(const EncodePlan& plan, const void* x, uint8_t* stream) {
  for (int64_t i = 0; i < kBlock; i += 64) {
    FloatVec v[4];
    uint64_t bits = plan.codes[0] ? ~uint64_t{0} : 0;
    for (int k = 0; k < 4; ++k) {
      v[k] = hn::LoadU(FloatTag(), static_cast<const float*>(x) + i + 16 * k);
      if (plan.even) v[k] = hn::Abs(v[k]);
    }
    for (int t = 0; t < plan.threshold_count; ++t) {
      if (plan.codes[t] == plan.codes[t + 1]) continue;
      const FloatVec threshold = hn::Set(FloatTag(), plan.thresholds[t]);
      for (int k = 0; k < 4; ++k) {
        bits ^= uint64_t{hn::Gt(v[k], threshold).raw} << 16 * k;
      }
    }
    for (int k = 0; k < 4 && plan.nan_change != 0; ++k) {
      bits ^= uint64_t{hn::IsNaN(v[k]).raw} << 16 * k;
    }
    std::memcpy(stream + i / 8, &bits, 8);
  }
}

#endif

/// Null where the plan has no grid or the instruction set no such stage.
inline DirectStage* grid_stage([[maybe_unused]] const EncodePlan& plan) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  if (plan.grid.per_cell == 1) return encode_by_grid<1>;
  if (plan.grid.per_cell == 2) return encode_by_grid<2>;
  if (plan.grid.per_cell == 3) return encode_by_grid<3>;
#endif
  return nullptr;
}

/// Null where the codes are wider, the thresholds many, or the instruction set has no such stage.
inline DirectStage* one_bit_stage([[maybe_unused]] const EncodePlan& plan,
                                  [[maybe_unused]] int bits) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  if (bits == 1 && plan.threshold_count <= EncodePlan::kFew) return encode_one_bit;
#endif
  return nullptr;
}

/// Many thresholds: bisection in the list that the plan fills up to kPadded with infinities.
inline void encode_by_bisection(const EncodePlan& plan, int64_t, const float* x, uint8_t* codes) {
  const FloatTag d;
  const IntTag di;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < kBlock; i += lanes) {
    const FloatVec v = load_compared(plan, x + i);
    auto passed = hn::Zero(di);
    for (int step = EncodePlan::kPadded / 2; step > 0; step /= 2) {
      const auto next = hn::Add(passed, hn::Set(di, step));
      const auto threshold = hn::GatherIndex(d, plan.padded, hn::Sub(next, hn::Set(di, 1)));
      passed = hn::IfThenElse(hn::RebindMask(di, hn::Gt(v, threshold)), next, passed);
    }
    HWY_ALIGN int32_t index[16];
    hn::Store(passed, di, index);
    for (int64_t k = 0; k < lanes; ++k) codes[i + k] = plan.codes[index[k]];
    if (plan.nan_change == 0) continue;
    for (int64_t k = i; k < i + lanes; ++k) {
      if (std::isnan(x[k])) codes[k] = static_cast<uint8_t>(codes[k] + plan.nan_change);
    }
  }
}

/// Doubles straight from memory, compared with doubles one threshold after the other. Where those
/// are many or floats the stages above are faster.
inline void encode_doubles(const EncodePlan& plan, const void* x, uint8_t* codes) {
  const hn::CappedTag<double, 8> d;
  const hn::Rebind<int64_t, decltype(d)> di;
  const hn::Rebind<uint8_t, decltype(d)> db;
  for (int64_t i = 0; i < kBlock; i += static_cast<int64_t>(hn::Lanes(d))) {
    const auto given = hn::BitCast(d, hn::LoadU(hn::Repartition<uint8_t, decltype(d)>(),
                                                static_cast<const uint8_t*>(x) + 8 * i));
    const auto v = plan.even ? hn::Abs(given) : given;
    auto code = hn::Set(di, plan.codes[0]);
    for (int t = 0; t < plan.threshold_count; ++t) {
      const auto passed = hn::RebindMask(di, hn::Gt(v, hn::Set(d, plan.wide_thresholds[t])));
      const auto change = hn::Set(di, plan.codes[t + 1] - plan.codes[t]);
      code = hn::Add(code, hn::IfThenElseZero(passed, change));
    }
    const auto is_nan = hn::RebindMask(di, hn::IsNaN(v));
    code = hn::Add(code, hn::IfThenElseZero(is_nan, hn::Set(di, plan.nan_change)));
    hn::StoreU(hn::TruncateTo(db, hn::BitCast(hn::RebindToUnsigned<decltype(di)>(), code)), db,
               codes + i);
  }
}

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
