#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/quantizer/cuda/rotated_arguments.hpp"
#include "kernels/stream/cuda/stream.hpp"

/// Subsets of levels out of codes' lowest bits, generated/trellis_quantizer.hpp, and the steps that
/// find the best of these bits; the CPU's kernels compute the same.
namespace fewbit::kernels::cuda {

/// The upper word of hi:lo << shift for 0 <= shift < 32.
FEWBIT_HD inline uint32_t funnel_left(uint32_t lo, uint32_t hi, uint32_t shift) {
#if defined(__CUDA_ARCH__)
  return __funnelshift_l(lo, hi, shift);
#else
  return static_cast<uint32_t>((uint64_t{hi} << 32 | lo) << shift >> 32);
#endif
}

/// Bit i: the lowest, or the upper bit of the subset of element i.
struct SubsetBits {
  uint32_t low;
  uint32_t high;
};

/// Of 32 elements: bit i of `own` is their lowest bit, `before` are those of the 32 before them.
template <int kStates>
FEWBIT_HD SubsetBits subset_bits(uint32_t own, uint32_t before) {
  const uint32_t u1 = funnel_left(before, own, 1);
  const uint32_t u2 = funnel_left(before, own, 2);
  if constexpr (kStates == 4) return {u1, own ^ u2};
  return {u2, own ^ u1 ^ funnel_left(before, own, 3)};
}

/// Bit `places` of x to bit 0, those below it round to the top.
FEWBIT_HD inline uint32_t rotated_right(uint32_t x, int places) {
  return funnel_right(x, x, static_cast<uint32_t>(places) % 32);
}

inline constexpr int kSubsets = 4;

/// Of the element whose bit is the lowest of `window`, the one before it next, ...
FEWBIT_HD constexpr int subset_of_window(int states, int window) {
  const int u = window & 1, u1 = window >> 1 & 1, u2 = window >> 2 & 1, u3 = window >> 3 & 1;
  return states == 4 ? u1 + 2 * (u ^ u2) : u2 + 2 * (u ^ u1 ^ u3);
}

/// The subsets of all windows, two bits each; windows have the element's own bit highest.
FEWBIT_HD constexpr uint32_t subsets_of_windows(int states) {
  uint32_t subsets = 0;
  for (int window = 0; window < 16; ++window) {
    const int turned = (window & 1) << 3 | (window & 2) << 1 | (window & 4) >> 1 | window >> 3;
    subsets |= static_cast<uint32_t>(subset_of_window(states, turned)) << 2 * window;
  }
  return subsets;
}

/// What each subset's best level adds to half the squared error, u^2 / 2 left out.
template <int kBits>
FEWBIT_HD void subset_costs(const TrellisTree& table, float u, float (&cost)[kSubsets]) {
  constexpr int kUpper = 1 << kBits;  // the first level above zero
  FEWBIT_UNROLL
  for (int i = 0; i < kUpper; ++i) {
    const float product = u * table.upper[i];
    const float above = table.cost[i] - product;
    const float below = table.cost[i] + product;  // of the level's negative
    const int upper = (kUpper + i) % kSubsets;
    const int lower = (kUpper - 1 - i) % kSubsets;
    cost[upper] = i < 2 ? above : std::fmin(cost[upper], above);
    cost[lower] = i < 2 ? below : std::fmin(cost[lower], below);
  }
}

/// The best paths one element further. A state is the bits before an element, the latest lowest.
/// Bit s of what is returned: whether on the path to state s the bit that it forgets was set.
template <int kStates>
FEWBIT_HD uint32_t extend_paths(const float (&cost)[kSubsets], float (&path)[kStates]) {
  constexpr int kOldest = kStates / 2;
  float longer[kStates];
  uint32_t decisions = 0;
  FEWBIT_UNROLL
  for (int to = 0; to < kStates; ++to) {
    const float clear = path[to / 2] + cost[subset_of_window(kStates, to)];
    const float set = path[to / 2 + kOldest] + cost[subset_of_window(kStates, to + kStates)];
    if (set < clear) decisions |= 1u << to;
    longer[to] = std::fmin(clear, set);
  }
  FEWBIT_UNROLL
  for (int to = 0; to < kStates; ++to) path[to] = longer[to];
  return decisions;
}

/// The state in which the best path ends.
template <int kStates>
FEWBIT_HD uint32_t best_end(const float (&path)[kStates]) {
  uint32_t best = 0;
  float least = path[0];
  FEWBIT_UNROLL
  for (int end = 1; end < kStates; ++end) {
    if (path[end] < least) best = static_cast<uint32_t>(end);
    least = std::fmin(least, path[end]);
  }
  return best;
}

}  // namespace fewbit::kernels::cuda
