#pragma once

#include "kernels/cpu/encode_plan.hpp"

namespace fewbit::kernels {

/// The codes of the unbiased form: f', then for each element one of the two levels around it.
inline void encode_at_random(const EncodePlan& plan, int64_t first, const float* x,
                             uint8_t* codes) {
  alignas(64) float slope[kBlock];
  plan.slope(x, slope, plan.parameters);
  for (int64_t i = 0; i < kBlock; i += 4) {
    const uint64_t group = static_cast<uint64_t>(first + i) / 4;
    const PhiloxWords words = philox(group, plan.random.offset, plan.random.seed);
    for (int64_t k = 0; k < 4; ++k) {
      const float s = slope[i + k];
      int lower = 0;
      for (int level = 1; level + 1 < plan.level_count; ++level) lower += s >= plan.levels[level];
      const float low = plan.levels[lower];
      const float high = plan.level_count > 1 ? plan.levels[lower + 1] : low;
      const float uniform = static_cast<float>(words.word[k] >> 8) * 0x1p-24f;
      codes[i + k] = static_cast<uint8_t>(lower + (uniform * (high - low) < s - low));
    }
  }
}

}  // namespace fewbit::kernels
