// The values of 16-bit elements by the ways of HalfWay. Included once per instruction set.
#if defined(FEWBIT_HALF_VALUES_INL) == defined(HWY_TARGET_TOGGLE)
#if defined(FEWBIT_HALF_VALUES_INL)
#undef FEWBIT_HALF_VALUES_INL
#else
#define FEWBIT_HALF_VALUES_INL
#endif

#include <cstring>

#include <hwy/highway.h>

#include "kernels/activation/cpu/half_plan.hpp"
#include "kernels/activation/cpu/half_values.hpp"
#include "kernels/stream/cpu/elements-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fewbit::kernels::HWY_NAMESPACE {

/// Four values at once, past the caches or not.
template <bool kPastCache>
HWY_INLINE void put_word(uint64_t word, uint16_t* to) {
#if HWY_ARCH_X86_64
  if constexpr (kPastCache) {
    _mm_stream_si64(reinterpret_cast<long long*>(to), static_cast<long long>(word));
    return;
  }
#endif
  std::memcpy(to, &word, sizeof word);
}

/// The values of kHalves elements, and so the others below.
template <bool kPastCache>
class SingleLoads {
 public:
  HWY_INLINE explicit SingleLoads(const HalfSource& source) : value_(source.table) {}

  HWY_INLINE void operator()(const uint16_t* from, uint16_t* to) const {
    for (int64_t k = 0; k < kHalves; k += 4) {
      const uint64_t low = value_[from[k]] | uint64_t{value_[from[k + 1]]} << 16;
      const uint64_t high = value_[from[k + 2]] | uint64_t{value_[from[k + 3]]} << 16;
      put_word<kPastCache>(low | high << 32, to + k);
    }
  }

 private:
  const uint16_t* value_;
};

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
/// Each value brings the next one of the table along, which is cut off.
template <bool kPastCache>
class Gathers {
 public:
  HWY_INLINE explicit Gathers(const HalfSource& source) : value_(source.table) {}

  HWY_INLINE void operator()(const uint16_t* from, uint16_t* to) const {
    constexpr int kSelect = 0xCA;  // of three: the first one's bits pick the second, else the third
    const __m512i lower = _mm512_set1_epi32(0xFFFF);
    const __m512i x = _mm512_loadu_si512(from);
    const __m512i even = _mm512_i32gather_epi32(_mm512_and_si512(x, lower), value_, sizeof *value_);
    const __m512i odd = _mm512_i32gather_epi32(_mm512_srli_epi32(x, 16), value_, sizeof *value_);
    const __m512i y = _mm512_ternarylogic_epi32(lower, even, _mm512_slli_epi32(odd, 16), kSelect);
    put<kPastCache>(hn::Vec<PairTag>{y}, PairTag(), to);
  }

 private:
  const uint16_t* value_;
};

/// Whether the fit gives the values of kHalves elements.
class AreExact {
 public:
  HWY_INLINE explicit AreExact(const ExactHalves& exact)
      : last_(_mm512_set1_epi16(static_cast<int16_t>(exact.last))), count_(exact.exception_count) {
    for (int i = 0; i < count_; ++i) {
      exception_[i] = _mm512_set1_epi16(static_cast<int16_t>(exact.exception[i]));
    }
  }

  HWY_INLINE bool operator()(const uint16_t* from) const {
    const __m512i x = _mm512_loadu_si512(from);
    __mmask32 are_not = _mm512_cmpgt_epu16_mask(x, last_);
    for (int i = 0; i < count_; ++i) are_not |= _mm512_cmpeq_epi16_mask(x, exception_[i]);
    return are_not == 0;
  }

 private:
  __m512i last_;
  int count_;
  __m512i exception_[ExactHalves::kMaxExceptions];
};

/// By a fit, in floats.
template <class Function, ElementType kType>
class ExactFit {
 public:
  HWY_INLINE explicit ExactFit(const HalfSource& source)
      : function_(FloatPlan{.fit = source.fit}), are_exact_(source.exact), others_(source) {}

  HWY_INLINE void operator()(const uint16_t* from, uint16_t* to) const {
    using Pair = UnorderedPair<kType>;
    if (!are_exact_(from)) [[unlikely]] {
      return others_(from, to);
    }
    FloatPair v = Pair::load(from);
    function_(v);
    // Past the caches it takes twice as long, with stores of looked-up values between these.
    Pair::template store<false>(v, to);
  }

 private:
  Function function_;
  AreExact are_exact_;
  SingleLoads<false> others_;
};
#endif

}  // namespace fewbit::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
