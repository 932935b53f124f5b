#pragma once

#include <cuda_runtime.h>

#include "kernels/quantizer/class_maps.hpp"
#include "kernels/quantizer/cuda/rotated_elements.hpp"
#include "kernels/stream/code_stream.hpp"

/// The maps of a run's classes by one block: a thread is a lane of the sample.
namespace fewbit::kernels::cuda {

inline constexpr int kSampleWarps = kSampleLanes / kSampleWarp;
inline constexpr int kSampledOfLane = kMostSampled / kSampleLanes;

/// A lane's elements of the sample; what is not finite is of no class.
struct LaneSample {
  static constexpr int kNone = 255;
  double value[kSampledOfLane];
  int of_class[kSampledOfLane];
};

template <ElementType kType>
__device__ void load_sample(const ClassMapsFormat& format, const void* x, const uint8_t* codes,
                            LaneSample& sample) {
  const int64_t step = sample_step(format.count);
  const int64_t last = code_bytes(format.count, format.bits) - 1;
  FEWBIT_UNROLL
  for (int i = 0; i < kSampledOfLane; ++i) {
    const int64_t at = (int64_t{i} * kSampleLanes + threadIdx.x) * step;
    sample.of_class[i] = LaneSample::kNone;
    sample.value[i] = 0.0;
    if (at < format.count) {
      sample.value[i] = load_wide<kType>(x, at);
      if (std::isfinite(sample.value[i])) {
        sample.of_class[i] = class_at(codes, format.bits, last, at);
      }
    }
  }
}

__device__ inline double joined_lanes(double own) {
  FEWBIT_UNROLL
  for (int distance = kSampleWarp / 2; distance > 0; distance /= 2) {
    own += __shfl_xor_sync(~0u, own, distance);
  }
  return own;
}

/// A warp's sums of a class; of all where it is kMostClasses.
__device__ inline ClassSums sums_of(const LaneSample& sample, double middle, int c) {
  ClassSums own;
  FEWBIT_UNROLL
  for (int i = 0; i < kSampledOfLane; ++i) {
    const int found = sample.of_class[i];
    if (found == c || (c == kMostClasses && found != LaneSample::kNone)) {
      own.add(sample.value[i] - middle);
    }
  }
  return {joined_lanes(own.count), joined_lanes(own.sum), joined_lanes(own.squares)};
}

struct SampleShared {
  ClassSums of_warp[kMostClasses + 1][kSampleWarps];
  ClassMoments moments[kMostClasses];
  double last_value[kSampleWarps];
  int last_place[kSampleWarps];  ///< of the last finite element of a warp; -1: none
};

/// The last finite element of the sample.
__device__ inline double middle_of(const LaneSample& sample, SampleShared& shared) {
  const int warp = static_cast<int>(threadIdx.x) / kSampleWarp;
  int place = -1;
  double value = 0.0;
  FEWBIT_UNROLL
  for (int i = 0; i < kSampledOfLane; ++i) {
    if (sample.of_class[i] != LaneSample::kNone) {
      place = i * kSampleLanes + static_cast<int>(threadIdx.x);
      value = sample.value[i];
    }
  }
  FEWBIT_UNROLL
  for (int distance = kSampleWarp / 2; distance > 0; distance /= 2) {
    const int other = __shfl_xor_sync(~0u, place, distance);
    const double of_other = __shfl_xor_sync(~0u, value, distance);
    if (other > place) {
      place = other;
      value = of_other;
    }
  }
  if (threadIdx.x % kSampleWarp == 0) {
    shared.last_place[warp] = place;
    shared.last_value[warp] = value;
  }
  __syncthreads();
  int best = 0;
  for (int w = 1; w < kSampleWarps; ++w) {
    if (shared.last_place[w] > shared.last_place[best]) best = w;
  }
  return shared.last_value[best];
}

__device__ inline ClassSums joined_warps(const ClassSums (&of_warp)[kSampleWarps]) {
  ClassSums all = of_warp[0];
  for (int w = 1; w < kSampleWarps; ++w) all.join(of_warp[w]);
  return all;
}

template <ElementType kType>
__global__ void __launch_bounds__(kSampleLanes)
    class_maps_kernel(const __grid_constant__ ClassMapsFormat format, const void* x,
                      const uint8_t* codes, float* there, float* back) {
  __shared__ SampleShared shared;
  LaneSample sample;
  load_sample<kType>(format, x, codes, sample);
  const double middle = middle_of(sample, shared);
  const int thread = static_cast<int>(threadIdx.x);
  for (int c = 0; c <= format.classes; ++c) {
    const int which = c < format.classes ? c : kMostClasses;
    const ClassSums sums = sums_of(sample, middle, which);
    if (thread % kSampleWarp == 0) shared.of_warp[which][thread / kSampleWarp] = sums;
  }
  __syncthreads();
  if (thread >= format.classes) return;
  const ClassSums all = joined_warps(shared.of_warp[kMostClasses]);
  shared.moments[thread] = moments_of(joined_warps(shared.of_warp[thread]), all, middle);
  // At most kMostClasses threads: those of one warp.
  __syncwarp(format.classes == kSampleWarp ? ~0u : (1u << format.classes) - 1);
  double greatest = 0.0;
  for (int c = 0; c < format.classes; ++c) {
    if (shared.moments[c].deviation > greatest) greatest = shared.moments[c].deviation;
  }
  const ClassMapPair maps = map_pair(shared.moments[thread], greatest, thread == format.zero);
  there[thread] = maps.scale_there;
  there[format.classes + thread] = maps.shift_there;
  back[thread] = maps.scale_back;
  back[format.classes + thread] = maps.shift_back;
}

}  // namespace fewbit::kernels::cuda
