#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/stream/cuda/vector.hpp"

/// Codes where thresholds are few: all of them are compared, and every one passed changes the code.
/// The code is the first one XOR the changes, which needs no order of the codes and no carries.
/// Two thresholds that mirror each other and make the same change are one comparison with |x|: a
/// code between them differs from those on both sides by that change. The derivatives of gates
/// (gelu, silu) have nearly all of their thresholds in such pairs.
namespace fewbit::kernels::cuda {

/// What makes a step count. A NaN never does, so that its code is the first: where that is not the
/// code of the lowest interval, some steps count that they are not passed.
enum class Passing {
  above,             ///< x > t
  magnitude_above,   ///< |x| > t, of tables whose thresholds cut |x|
  magnitude_within,  ///< |x| <= t, of mirrored thresholds
  within             ///< x <= t
};

/// Whether a step counts that its threshold is not above, rather than below.
constexpr bool is_within(Passing passing) {
  return passing == Passing::magnitude_within || passing == Passing::within;
}

/// Whether it is |x| that is compared.
constexpr bool is_of_magnitude(Passing passing) {
  return passing == Passing::magnitude_above || passing == Passing::magnitude_within;
}

/// A step, as loops over all elements of a lane read it.
struct alignas(16) Step {
  float threshold;
  /// Twice the bits of the largest value of a 16-bit type that is not above the threshold:
  /// comparing with either is the same for all x of the type.
  uint32_t pair;
  /// Code below XOR code above, at the places in a quad of elements 0 and 2; for 16-bit types in
  /// both halves of a word.
  uint32_t change[2];
};

struct StepSum {
  static constexpr int kMaxSteps = 48;
  static constexpr int kMaxBits = 5;  ///< of a code, so that half a quad of pairs fits half a word

  int bits;
  bool even;       ///< the first steps compare |x|
  int count;       ///< of steps that pass above their threshold,
  int end;         ///< followed by those of mirrored ones
  int all;         ///< followed by those that count x <= t, where a NaN has a code of its own
  uint32_t first;  ///< the quad of a NaN, as `change` places codes
  Step step[kMaxSteps];
};

/// Changes the code where x passes t.
template <Passing kPassing>
FEWBIT_HD inline void step_over(float x, float t, uint32_t change, uint32_t& quad) {
  const float compared = is_of_magnitude(kPassing) ? std::fabs(x) : x;
#if defined(__CUDA_ARCH__)
  if constexpr (is_within(kPassing)) {
    asm("{.reg .pred passed; setp.le.f32 passed, %1, %2; @passed xor.b32 %0, %0, %3;}"
        : "+r"(quad)
        : "f"(compared), "f"(t), "r"(change));
  } else {
    asm("{.reg .pred passed; setp.gt.f32 passed, %1, %2; @passed xor.b32 %0, %0, %3;}"
        : "+r"(quad)
        : "f"(compared), "f"(t), "r"(change));
  }
#else
  if (is_within(kPassing) ? compared <= t : compared > t) quad ^= change;
#endif
}

/// All ones in the halves of a word where x passes t. Below sm_90 bf16 has no such comparison.
template <ElementType kType, Passing kPassing>
FEWBIT_HD inline uint32_t passed_pair(uint32_t x, uint32_t t) {
  const uint32_t compared = is_of_magnitude(kPassing) ? x & 0x7FFF7FFFu : x;
#if defined(__CUDA_ARCH__)
  [[maybe_unused]] uint32_t mask;
  if constexpr (kType == ElementType::f16 && is_within(kPassing)) {
    asm("set.le.u32.f16x2 %0, %1, %2;" : "=r"(mask) : "r"(compared), "r"(t));
    return mask;
  } else if constexpr (kType == ElementType::f16) {
    asm("set.gt.u32.f16x2 %0, %1, %2;" : "=r"(mask) : "r"(compared), "r"(t));
    return mask;
#if __CUDA_ARCH__ >= 900
  } else if constexpr (is_within(kPassing)) {
    asm("set.le.u32.bf16x2 %0, %1, %2;" : "=r"(mask) : "r"(compared), "r"(t));
    return mask;
  } else {
    asm("set.gt.u32.bf16x2 %0, %1, %2;" : "=r"(mask) : "r"(compared), "r"(t));
    return mask;
#endif
  }
#endif
  float x_low = 0.0f;
  float x_high = 0.0f;
  float t_low = 0.0f;
  float t_high = 0.0f;
  widen<kType>(compared, x_low, x_high);
  widen<kType>(t, t_low, t_high);
  const bool low = is_within(kPassing) ? x_low <= t_low : x_low > t_low;
  const bool high = is_within(kPassing) ? x_high <= t_high : x_high > t_high;
  return (low ? 0xFFFFu : 0u) | (high ? 0xFFFF0000u : 0u);
}

/// The steps [begin, end) of floats.
template <Passing kPassing, int kCount>
FEWBIT_HD inline void add_steps(const StepSum& steps, int begin, int end,
                                const float (&x)[kCount][4], uint32_t (&quad)[kCount]) {
  FEWBIT_KEEP_LOOP
  for (int i = begin; i < end; ++i) {
    const Step step = steps.step[i];
    const uint32_t change[4] = {step.change[0], step.change[0] << steps.bits, step.change[1],
                                step.change[1] << steps.bits};
    FEWBIT_UNROLL
    for (int q = 0; q < kCount; ++q) {
      FEWBIT_UNROLL
      for (int j = 0; j < 4; ++j) {
        step_over<kPassing>(x[q][j], step.threshold, change[j], quad[q]);
      }
    }
  }
}

/// The same of pairs of 16-bit elements, two a quad.
template <Passing kPassing, ElementType kType, int kCount>
FEWBIT_HD inline void add_steps(const StepSum& steps, int begin, int end,
                                const uint32_t (&x)[kCount][2], uint32_t (&quad)[kCount]) {
  FEWBIT_KEEP_LOOP
  for (int i = begin; i < end; ++i) {
    const Step step = steps.step[i];
    FEWBIT_UNROLL
    for (int q = 0; q < kCount; ++q) {
      quad[q] ^= passed_pair<kType, kPassing>(x[q][0], step.pair) & step.change[0];
      quad[q] ^= passed_pair<kType, kPassing>(x[q][1], step.pair) & step.change[1];
    }
  }
}

/// The quads of a lane's vectors, in their order.
template <ElementType kType>
FEWBIT_HD inline void sum_quads(const StepSum& steps, const Vector (&x)[kVectors<kType>],
                                uint32_t (&quad)[kQuads]) {
  if constexpr (kType == ElementType::f32) {
    float values[kQuads][4];
    for (int q = 0; q < kQuads; ++q) {
      widen<kType>(x[q], values[q]);
      quad[q] = steps.first | steps.first << steps.bits;
    }
    if (steps.even) {
      add_steps<Passing::magnitude_above>(steps, 0, steps.count, values, quad);
    } else {
      add_steps<Passing::above>(steps, 0, steps.count, values, quad);
    }
    add_steps<Passing::magnitude_within>(steps, steps.count, steps.end, values, quad);
    add_steps<Passing::within>(steps, steps.end, steps.all, values, quad);
  } else {
    uint32_t pairs[kQuads][2];
    for (int q = 0; q < kQuads; ++q) {
      pairs[q][0] = x[q / 2].word[q % 2 * 2];
      pairs[q][1] = x[q / 2].word[q % 2 * 2 + 1];
      quad[q] = steps.first;
    }
    if (steps.even) {
      add_steps<Passing::magnitude_above, kType>(steps, 0, steps.count, pairs, quad);
    } else {
      add_steps<Passing::above, kType>(steps, 0, steps.count, pairs, quad);
    }
    add_steps<Passing::magnitude_within, kType>(steps, steps.count, steps.end, pairs, quad);
    add_steps<Passing::within, kType>(steps, steps.end, steps.all, pairs, quad);
    // So far the codes of elements 0 and 2 lie in the lower half, those of 1 and 3 in the upper.
    for (int q = 0; q < kQuads; ++q) {
      quad[q] = (quad[q] & 0xFFFFu) | (quad[q] & 0xFFFF0000u) >> (16 - steps.bits);
    }
  }
}

/// The code of a single element.
FEWBIT_HD inline uint32_t sum_code(const StepSum& steps, float x) {
  uint32_t quad = steps.first;
  FEWBIT_KEEP_LOOP
  for (int i = 0; i < steps.count; ++i) {
    const Step& step = steps.step[i];
    step_over<Passing::above>(steps.even ? std::fabs(x) : x, step.threshold, step.change[0], quad);
  }
  FEWBIT_KEEP_LOOP
  for (int i = steps.count; i < steps.end; ++i) {
    const Step& step = steps.step[i];
    step_over<Passing::magnitude_within>(x, step.threshold, step.change[0], quad);
  }
  FEWBIT_KEEP_LOOP
  for (int i = steps.end; i < steps.all; ++i) {
    const Step& step = steps.step[i];
    step_over<Passing::within>(x, step.threshold, step.change[0], quad);
  }
  return quad & ((1u << steps.bits) - 1);
}

}  // namespace fewbit::kernels::cuda
