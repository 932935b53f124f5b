#pragma once

#include "kernels/activation/cuda/function.hpp"
#include "kernels/stream/cuda/tile.cuh"

/// y = f(x), with the codes of tables of few thresholds in the same pass.
namespace fewbit::kernels::cuda {

template <class Function, ElementType kType>
__device__ void forward_whole(const Tile& tile, const ForwardArguments& pass, TileCodes& codes) {
  Vector vector[kVectors<kType>];
  const Vector* const from = vectors_of<kType>(pass.x, tile);
  FEWBIT_UNROLL
  for (int v = 0; v < kVectors<kType>; ++v) vector[v] = from[v * kLanes];
  if (pass.codes != nullptr) {
    uint32_t quad[kQuads];
    sum_quads<kType>(pass.steps, vector, quad);
    put_quads<kType>(tile.lane, quad, codes);
    store_codes(tile, pass.steps.bits, true, codes, pass.codes);
  }
  Vector* const to = vectors_of<kType>(pass.y, tile);
  FEWBIT_UNROLL
  for (int v = 0; v < kVectors<kType>; ++v) {
    float x[kPerVector<kType>];
    widen<kType>(vector[v], x);
    FEWBIT_UNROLL
    for (int j = 0; j < kPerVector<kType>; ++j) {
      x[j] = Function::template value<kType>(x[j], pass.parameters);
    }
    to[v * kLanes] = narrow<kType>(x);
  }
}

template <class Function, ElementType kType>
__device__ void forward_slowly(const Tile& tile, const ForwardArguments& pass, TileCodes& codes) {
  if (pass.codes != nullptr) {
    const auto code = [&](int i) {
      return sum_code(pass.steps, load_element<kType>(pass.x, tile.begin + i));
    };
    put_quads_slowly(tile.lane, tile.count, pass.steps.bits, code, codes);
    store_codes(tile, pass.steps.bits, false, codes, pass.codes);
  }
  FEWBIT_KEEP_LOOP
  for (int i = tile.lane; i < tile.count; i += kLanes) {
    const float x = load_element<kType>(pass.x, tile.begin + i);
    const float y = Function::template value<kType>(x, pass.parameters);
    store_element<kType>(pass.y, tile.begin + i, y);
  }
}

template <class Function, ElementType kType>
__global__ void __launch_bounds__(kThreads, kBlocks)
    forward_kernel(const __grid_constant__ ForwardArguments pass) {
  __shared__ TileCodes codes[kWarps];
  const Tile tile(pass.count);
  if (tile.count == 0) return;
  TileCodes& own = codes[threadIdx.x / kLanes];
  if (tile.count == kTile && pass.is_aligned) {
    forward_whole<Function, kType>(tile, pass, own);
  } else {
    forward_slowly<Function, kType>(tile, pass, own);
  }
}

/// Values of doubles; their codes are found by encode.cuh.
template <class Function>
__global__ void __launch_bounds__(kThreads)
    forward_doubles_kernel(const double* x, double* y, int64_t count, Parameters parameters) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) y[i] = Function::wide(x[i], parameters);
}

}  // namespace fewbit::kernels::cuda
