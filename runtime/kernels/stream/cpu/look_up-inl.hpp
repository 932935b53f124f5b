// Small tables of floats, an index for every lane. Included once per instruction set.
#if defined(FEWBIT_LOOK_UP_INL) == defined(HWY_TARGET_TOGGLE)
#if defined(FEWBIT_LOOK_UP_INL)
#undef FEWBIT_LOOK_UP_INL
#else
#define FEWBIT_LOOK_UP_INL
#endif

#include <algorithm>
#include <bit>

#include "kernels/stream/cpu/elements-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

using IntVec = hn::Vec<IntTag>;

/// table[index], index below kCount, a power of two; the table is aligned, and has 16 floats at
/// least.
template <int kCount>
HWY_INLINE FloatVec look_up(const float* table, IntVec index) {
  const FloatTag d;
  if constexpr (kCount == 1) return hn::Set(d, table[0]);
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  if constexpr (kCount <= 16) {
    return FloatVec{_mm512_permutexvar_ps(index.raw, _mm512_load_ps(table))};
  } else if constexpr (kCount == 32) {
    return FloatVec{
        _mm512_permutex2var_ps(_mm512_load_ps(table), index.raw, _mm512_load_ps(table + 16))};
  } else {
    const __mmask16 is_upper = _mm512_test_epi32_mask(index.raw, _mm512_set1_epi32(kCount / 2));
    return FloatVec{_mm512_mask_mov_ps(look_up<kCount / 2>(table, index).raw, is_upper,
                                       look_up<kCount / 2>(table + kCount / 2, index).raw)};
  }
#elif HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
  // A gather takes as long as some ten permutations. These read the lowest three bits of an index.
  if constexpr (kCount <= 8) {
    return FloatVec{_mm256_permutevar8x32_ps(_mm256_load_ps(table), index.raw)};
  } else if constexpr (kCount <= 32) {
    constexpr int kHalf = kCount / 2;
    const __m256i upper_bit = _mm256_slli_epi32(index.raw, 32 - std::bit_width(kHalf + 0U));
    return FloatVec{_mm256_blendv_ps(look_up<kHalf>(table, index).raw,
                                     look_up<kHalf>(table + kHalf, index).raw,
                                     _mm256_castsi256_ps(upper_bit))};
  } else {
    return hn::GatherIndex(d, table, index);
  }
#else
  if constexpr (kCount > 1) return hn::GatherIndex(d, table, index);
#endif
}

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
