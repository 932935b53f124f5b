#pragma once

#include "kernels/activation/cuda/function.hpp"
#include "kernels/stream/cuda/tile.cuh"

/// Codes alone, element by element: of tables of many thresholds, of doubles, and of the unbiased
/// form.
namespace fewbit::kernels::cuda {

template <class Code>
__device__ void encode_and_store(const EncodeArguments& pass, Code code) {
  __shared__ TileCodes codes[kWarps];
  const Tile tile(pass.count);
  if (tile.count == 0) return;
  TileCodes& own = codes[threadIdx.x / kLanes];
  put_quads_slowly(
      tile.lane, tile.count, pass.bits, [&](int i) { return code(tile.begin + i); }, own);
  store_codes(tile, pass.bits, tile.count == kTile && pass.is_aligned, own, pass.codes);
}

template <ElementType kType, class Real>
__global__ void __launch_bounds__(kThreads)
    bisection_kernel(const __grid_constant__ EncodeArguments pass,
                     const __grid_constant__ BisectionTable<Real> given) {
  __shared__ BisectionTable<Real> table;
  copy_to_shared(given, table);
  encode_and_store(pass,
                   [&](int64_t i) { return bisect_code(table, load_compared<kType>(pass.x, i)); });
}

template <class Function, ElementType kType>
__global__ void __launch_bounds__(kThreads)
    round_kernel(const __grid_constant__ EncodeArguments pass,
                 const __grid_constant__ RoundingTable given, Parameters parameters,
                 DevicePhilox given_random) {
  __shared__ RoundingTable table;
  copy_to_shared(given, table);
  const PhiloxState random = {*given_random.seed, given_random.offset};
  encode_and_store(pass, [&](int64_t i) {
    const float slope = Function::derivative(load_element<kType>(pass.x, i), parameters);
    return rounded_code(table, slope, uniform(random, static_cast<uint64_t>(i)));
  });
}

}  // namespace fewbit::kernels::cuda
