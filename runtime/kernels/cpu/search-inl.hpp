// The code of every element of a block. Included once per instruction set.
#if defined(FEWBIT_SEARCH_INL) == defined(HWY_TARGET_TOGGLE)
#if defined(FEWBIT_SEARCH_INL)
#undef FEWBIT_SEARCH_INL
#else
#define FEWBIT_SEARCH_INL
#endif

#include "kernels/cpu/elements-inl.hpp"
#include "kernels/cpu/encode_plan.hpp"

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
    store_codes(code0, codes + i);
    store_codes(code1, codes + i + lanes);
  }
}

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
/// The thresholds of the element's cell of a grid, by permutations of two registers.
template <int kPerCell, bool kEven>
void encode_by_grid(const EncodePlan& plan, const void* x, uint8_t* codes) {
  const FloatTag d;
  const ThresholdGrid& grid = plan.grid;
  const FloatVec scale = hn::Set(d, grid.scale);
  const FloatVec shift = hn::Set(d, grid.shift);
  const FloatVec low = hn::Set(d, grid.low);
  const FloatVec high = hn::Set(d, grid.high);
  const __m512i code_low = _mm512_load_si512(grid.codes);
  const __m512i code_high = _mm512_load_si512(grid.codes + 16);
  __m512 threshold[kPerCell][2];
  for (int j = 0; j < kPerCell; ++j) {
    threshold[j][0] = _mm512_load_ps(grid.threshold[j]);
    threshold[j][1] = _mm512_load_ps(grid.threshold[j] + 16);
  }
  for (int64_t i = 0; i < kBlock; i += 16) {
    FloatVec v = hn::LoadU(FloatTag(), static_cast<const float*>(x) + i);
    if constexpr (kEven) v = hn::Abs(v);
    // Of a NaN and a number, the second operand is taken: NaN goes to the first cell.
    const FloatVec clamped = hn::Min(hn::Max(v, low), high);
    const __m512i cell = _mm512_castps_si512(hn::MulAdd(clamped, scale, shift).raw);
    __m512i found = _mm512_permutex2var_epi32(code_low, cell, code_high);
    for (int j = 0; j < kPerCell; ++j) {
      const __m512 t = _mm512_permutex2var_ps(threshold[j][0], cell, threshold[j][1]);
      const __mmask16 passed = _mm512_cmp_ps_mask(v.raw, t, _CMP_GT_OQ);
      found = _mm512_mask_srli_epi32(found, passed, found, 8);
    }
    _mm_storeu_si128(reinterpret_cast<__m128i*>(codes + i), _mm512_cvtepi32_epi8(found));
  }
}

/// One bit: the first code, flipped by every threshold passed at which the code changes. Writes the
/// stream itself.
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
    std::memcpy(stream + i / 8, &bits, 8);
  }
}

template <bool kEven>
DirectStage* grid_stage(int per_cell) {
  if (per_cell == 1) return encode_by_grid<1, kEven>;
  if (per_cell == 2) return encode_by_grid<2, kEven>;
  return per_cell == 3 ? encode_by_grid<3, kEven> : nullptr;
}
#endif

/// Null where the plan has no grid or the instruction set no such stage.
inline DirectStage* grid_stage([[maybe_unused]] const EncodePlan& plan) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return plan.even ? grid_stage<true>(plan.grid.per_cell) : grid_stage<false>(plan.grid.per_cell);
#else
  return nullptr;
#endif
}

/// Null where the codes are wider, the thresholds many, or the instruction set has no such stage.
inline DirectStage* one_bit_stage([[maybe_unused]] const EncodePlan& plan,
                                  [[maybe_unused]] int bits) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  if (bits == 1 && plan.threshold_count <= 4) return encode_one_bit;
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
  }
}

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
