#pragma once

#include "kernels/quantizer/cuda/decoded.hpp"
#include "kernels/quantizer/cuda/low_rank.hpp"
#include "kernels/stream/cuda/tile.cuh"
#include "kernels/stream/cuda/vector.hpp"

/// A thread an element, or a place of the channels; of adjacent channels 16 threads a place.
namespace fewbit::kernels::cuda {

inline constexpr int kThreadsOfBlock = 256;

/// Directions whose sums a thread holds at the same time.
inline constexpr int kSumsOfThread = 4;

FEWBIT_HD inline float basis_at(const DeviceDirections& of, int direction, int64_t channel) {
  return basis_value(of.basis[direction * of.stride + channel]);
}

/// Of element `e` of the coefficients' blocks.
FEWBIT_HD inline float part_of_element(const DeviceLowRank& low_rank, int64_t e) {
  const DeviceDirections& of = low_rank.directions;
  const int64_t inner = of.place.inner;
  const int64_t block = e / of.place.block();
  const int64_t channel = e / inner % of.place.channels;
  const float* const coefficients = low_rank.coefficients + block * of.count * inner + e % inner;
  float sum = 0.0f;
  FEWBIT_KEEP_LOOP
  for (int j = 0; j < of.count; ++j) {
    sum = fmaf(coefficients[j * inner], basis_at(of, j, channel), sum);
  }
  return sum;
}

FEWBIT_HD inline float finite_or_zero(float x) {
  return is_finite(x) ? x : 0.0f;
}

template <ElementType kType>
__global__ void __launch_bounds__(kThreadsOfBlock)
    low_rank_take_kernel(const __grid_constant__ DeviceLowRank low_rank, const void* x,
                         int64_t count, float* rest) {
  const int64_t i = int64_t{blockIdx.x} * kThreadsOfBlock + threadIdx.x;
  if (i >= count) return;
  rest[i] = load_element<kType>(x, i) - part_of_element(low_rank, low_rank.first + i);
}

template <ElementType kType>
__global__ void __launch_bounds__(kThreadsOfBlock)
    low_rank_put_back_kernel(const __grid_constant__ DeviceLowRank low_rank, const float* rest,
                             int64_t count, void* x) {
  const int64_t i = int64_t{blockIdx.x} * kThreadsOfBlock + threadIdx.x;
  if (i >= count) return;
  const float sum = rest[i] + part_of_element(low_rank, low_rank.first + i);
  store_clamped<kType>(x, i, clamped<kType>(sum));
}

/// Of adjacent channels: lane l of 16 sums channels l, l + 16, ...
template <ElementType kType>
__global__ void __launch_bounds__(kThreadsOfBlock)
    low_rank_dot_kernel(const __grid_constant__ DeviceDirections of, const void* x, int64_t places,
                        float* coefficients) {
  const int64_t place = (int64_t{blockIdx.x} * kThreadsOfBlock + threadIdx.x) / kDotSums;
  const int lane = static_cast<int>(threadIdx.x) % kDotSums;
  const int64_t channels = of.place.channels;
  const bool is_there = place < places;  // all lanes of a warp add up
  for (int first = 0; first < of.count; first += kSumsOfThread) {
    float sums[kSumsOfThread] = {};
    if (is_there) {
      FEWBIT_KEEP_LOOP
      for (int64_t c = lane; c < channels; c += kDotSums) {
        const float value = load_element<kType>(x, place * channels + c);
        FEWBIT_UNROLL
        for (int j = 0; j < kSumsOfThread; ++j) {
          if (first + j < of.count) sums[j] = fmaf(value, basis_at(of, first + j, c), sums[j]);
        }
      }
    }
    FEWBIT_UNROLL
    for (int j = 0; j < kSumsOfThread; ++j) {
      FEWBIT_UNROLL
      for (int distance = kDotSums / 2; distance > 0; distance /= 2) {
        sums[j] += __shfl_xor_sync(~0u, sums[j], distance);
      }
      const bool is_one = is_there && lane == 0 && first + j < of.count;
      if (is_one) coefficients[place * of.count + first + j] = finite_or_zero(sums[j]);
    }
  }
}

/// Of channels that are not adjacent: a thread a place.
template <ElementType kType>
__global__ void __launch_bounds__(kThreadsOfBlock)
    low_rank_sum_kernel(const __grid_constant__ DeviceDirections of, const void* x, int64_t places,
                        float* coefficients) {
  const int64_t place = int64_t{blockIdx.x} * kThreadsOfBlock + threadIdx.x;
  if (place >= places) return;
  const int64_t inner = of.place.inner;
  const int64_t block = place / inner, i = place % inner;
  for (int first = 0; first < of.count; first += kSumsOfThread) {
    float sums[kSumsOfThread] = {};
    FEWBIT_KEEP_LOOP
    for (int64_t c = 0; c < of.place.channels; ++c) {
      const float value = load_element<kType>(x, (block * of.place.channels + c) * inner + i);
      FEWBIT_UNROLL
      for (int j = 0; j < kSumsOfThread; ++j) {
        if (first + j < of.count) sums[j] = fmaf(value, basis_at(of, first + j, c), sums[j]);
      }
    }
    FEWBIT_UNROLL
    for (int j = 0; j < kSumsOfThread; ++j) {
      if (first + j < of.count) {
        coefficients[(block * of.count + first + j) * inner + i] = finite_or_zero(sums[j]);
      }
    }
  }
}

}  // namespace fewbit::kernels::cuda
