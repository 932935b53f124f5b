#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/cuda/vector.hpp"

/// Codes where thresholds are few: all of them are compared, and every one passed changes the code.
/// The code is the first one XOR the changes, which needs no order of the codes and no carries.
namespace fewbit::kernels::cuda {

/// A threshold, as loops over all elements of a lane read it.
struct alignas(16) Step {
  float threshold;
  /// Twice the bits of the largest value of a 16-bit type that is not above the threshold: x >
  /// either is the same for all x of the type.
  uint32_t pair;
  /// Code below XOR code above, at the places in a quad of elements 0 and 2; for 16-bit types in
  /// both halves of a word.
  uint32_t change[2];
};

struct StepSum {
  static constexpr int kMaxSteps = 48;
  static constexpr int kMaxBits = 5;  ///< of a code, so that half a quad of pairs fits half a word

  int bits;
  int count;
  bool even;
  uint32_t first;  ///< the quad below all thresholds, as `change` places codes
  Step step[kMaxSteps];
};

/// Changes the code where x > t.
FEWBIT_HD inline void step_over(float x, float t, uint32_t change, uint32_t& quad) {
#if defined(__CUDA_ARCH__)
  asm("{.reg .pred above; setp.gt.f32 above, %1, %2; @above xor.b32 %0, %0, %3;}"
      : "+r"(quad)
      : "f"(x), "f"(t), "r"(change));
#else
  if (x > t) quad ^= change;
#endif
}

/// All ones in the halves of a word where x > t. Below sm_90 bf16 has no such comparison.
template <ElementType kType, bool kEven>
FEWBIT_HD inline uint32_t above_pair(uint32_t x, uint32_t t) {
  if constexpr (kEven) x &= 0x7FFF7FFFu;
#if defined(__CUDA_ARCH__)
  uint32_t mask;
  if constexpr (kType == ElementType::f16) {
    asm("set.gt.u32.f16x2 %0, %1, %2;" : "=r"(mask) : "r"(x), "r"(t));
    return mask;
#if __CUDA_ARCH__ >= 900
  } else {
    asm("set.gt.u32.bf16x2 %0, %1, %2;" : "=r"(mask) : "r"(x), "r"(t));
    return mask;
#endif
  }
#endif
  float x_low = 0.0f;
  float x_high = 0.0f;
  float t_low = 0.0f;
  float t_high = 0.0f;
  widen<kType>(x, x_low, x_high);
  widen<kType>(t, t_low, t_high);
  return (x_low > t_low ? 0xFFFFu : 0u) | (x_high > t_high ? 0xFFFF0000u : 0u);
}

/// The quads of floats.
template <int kCount, bool kEven>
FEWBIT_HD inline void sum_quads(const StepSum& steps, const float (&x)[kCount][4],
                                uint32_t (&quad)[kCount]) {
  for (int q = 0; q < kCount; ++q) quad[q] = steps.first | steps.first << steps.bits;
  FEWBIT_KEEP_LOOP
  for (int i = 0; i < steps.count; ++i) {
    const Step step = steps.step[i];
    const uint32_t change[4] = {step.change[0], step.change[0] << steps.bits, step.change[1],
                                step.change[1] << steps.bits};
    FEWBIT_UNROLL
    for (int q = 0; q < kCount; ++q) {
      FEWBIT_UNROLL
      for (int j = 0; j < 4; ++j) {
        step_over(kEven ? std::fabs(x[q][j]) : x[q][j], step.threshold, change[j], quad[q]);
      }
    }
  }
}

/// The quads of pairs of 16-bit elements, two a quad. While they are summed the codes of elements 0
/// and 2 lie in the lower half of a word, those of 1 and 3 in the upper half.
template <ElementType kType, int kCount, bool kEven>
FEWBIT_HD inline void sum_quads(const StepSum& steps, const uint32_t (&x)[kCount][2],
                                uint32_t (&quad)[kCount]) {
  for (int q = 0; q < kCount; ++q) quad[q] = steps.first;
  FEWBIT_KEEP_LOOP
  for (int i = 0; i < steps.count; ++i) {
    const Step step = steps.step[i];
    FEWBIT_UNROLL
    for (int q = 0; q < kCount; ++q) {
      quad[q] ^= above_pair<kType, kEven>(x[q][0], step.pair) & step.change[0];
      quad[q] ^= above_pair<kType, kEven>(x[q][1], step.pair) & step.change[1];
    }
  }
  for (int q = 0; q < kCount; ++q) {
    quad[q] = (quad[q] & 0xFFFFu) | (quad[q] & 0xFFFF0000u) >> (16 - steps.bits);
  }
}

/// The quads of a lane's vectors, in their order.
template <ElementType kType>
FEWBIT_HD inline void sum_quads(const StepSum& steps, const Vector (&x)[kVectors<kType>],
                                uint32_t (&quad)[kQuads]) {
  if constexpr (kType == ElementType::f32) {
    float values[kQuads][4];
    for (int q = 0; q < kQuads; ++q) widen<kType>(x[q], values[q]);
    return steps.even ? sum_quads<kQuads, true>(steps, values, quad)
                      : sum_quads<kQuads, false>(steps, values, quad);
  } else {
    uint32_t pairs[kQuads][2];
    for (int q = 0; q < kQuads; ++q) {
      pairs[q][0] = x[q / 2].word[q % 2 * 2];
      pairs[q][1] = x[q / 2].word[q % 2 * 2 + 1];
    }
    return steps.even ? sum_quads<kType, kQuads, true>(steps, pairs, quad)
                      : sum_quads<kType, kQuads, false>(steps, pairs, quad);
  }
}

/// The code of a single element.
FEWBIT_HD inline uint32_t sum_code(const StepSum& steps, float x) {
  const float compared = steps.even ? std::fabs(x) : x;
  uint32_t quad = steps.first;
  FEWBIT_KEEP_LOOP
  for (int i = 0; i < steps.count; ++i) {
    step_over(compared, steps.step[i].threshold, steps.step[i].change[0], quad);
  }
  return quad & ((1u << steps.bits) - 1);
}

}  // namespace fewbit::kernels::cuda
