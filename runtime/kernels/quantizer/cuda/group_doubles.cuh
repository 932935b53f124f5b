#pragma once

#include "kernels/quantizer/cuda/group_arguments.hpp"
#include "kernels/quantizer/cuda/group_constants.hpp"
#include "kernels/stream/cuda/tile.cuh"

/// Groups of doubles, one element after the other.
namespace fewbit::kernels::cuda {

/// The constants of each lane's group; the lane has the elements [first, end).
__device__ inline GroupConstants<double> constants_of_group(int span, const double* x,
                                                            int64_t first, int64_t end) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double low = kInfinity;
  double high = -kInfinity;
  bool is_finite = true;
  FEWBIT_KEEP_LOOP
  for (int64_t i = first; i < end; ++i) {
    low = std::fmin(low, x[i]);
    if (x[i] >= high) high = x[i];
    is_finite = is_finite && std::isfinite(x[i]);
  }
  if (!is_finite) low = -kInfinity;
  FEWBIT_KEEP_LOOP
  for (int distance = span / 2; distance > 0; distance /= 2) {
    low = std::fmin(low, __shfl_xor_sync(~0u, low, distance));
    // Of two zeros the later one, as on the CPU.
    const double other = __shfl_xor_sync(~0u, high, distance);
    const bool is_later = (threadIdx.x & static_cast<unsigned>(distance)) == 0;
    if (is_later ? other >= high : other > high) high = other;
  }
  if (low == -kInfinity) return {quiet_nan<double>(), quiet_nan<double>()};
  return constants_of(low, high);
}

/// A tile that has elements.
template <Rounding kRounding>
__device__ void encode_tile_of_doubles(const Tile& tile, const GroupEncodeArguments& pass,
                                       TileCodes& codes) {
  const auto* const x = static_cast<const double*>(pass.x);
  const int64_t begin = tile.begin + tile.lane * kPerLane;
  const int64_t end = begin + kPerLane < pass.count ? begin + kPerLane : pass.count;
  const auto of = constants_of_group((1 << pass.shift) / kPerLane, x, begin, end);
  if (begin >> pass.shift << pass.shift == begin && begin < end) {
    store_constants(of, pass.constants, begin >> pass.shift);
  }
  const GroupEncoding<double> encoding(of, pass.bits);
  const PhiloxState random = {encoding_draws(kRounding) ? *pass.random.seed : 0,
                              pass.random.offset};
  FEWBIT_KEEP_LOOP
  for (int q = 0; q < kQuads; ++q) {
    const int64_t first = begin + 4 * q;
    PhiloxWords words = {};
    if constexpr (encoding_draws(kRounding)) {
      words = philox(static_cast<uint64_t>(first / 4), random.offset, random.seed);
    }
    uint32_t quad = 0;
    FEWBIT_UNROLL
    for (int j = 0; j < 4; ++j) {
      if (first + j >= end || std::isnan(of.minimum)) continue;
      const int32_t addend = encoding_draws(kRounding) ? addend_of(words.word[j]) : kHalf;
      quad |= encoding.code<kRounding == Rounding::squares>(x[first + j], addend) << j * pass.bits;
    }
    codes.word[tile.lane * kQuads + q] = quad;
  }
  store_codes(tile, pass.bits, tile.count == kTile && pass.codes_are_aligned, codes, pass.codes);
}

template <Rounding kRounding>
__global__ void __launch_bounds__(kThreads, kBlocks)
    group_encode_doubles_kernel(const __grid_constant__ GroupEncodeArguments pass) {
  __shared__ TileCodes tiles[kWarps];
  const Tile tile(pass.count);
  if (tile.count == 0) return;
  encode_tile_of_doubles<kRounding>(tile, pass, tiles[threadIdx.x / kLanes]);
}

template <Rounding kRounding>
__device__ void decode_double(int64_t i, const GroupDecodeArguments& pass) {
  double code = load_code(pass.codes, pass.bits, i);
  if constexpr (kRounding == Rounding::squares) code *= code;
  if constexpr (decoding_draws(kRounding)) {
    const auto place = static_cast<uint64_t>(i);
    const PhiloxWords words = philox(place / 4, pass.random.offset, *pass.random.seed);
    code += dither_of(words.word[place % 4]) * double{kDitherUnit};
  }
  const GroupDecoding<double> decoding(load_constants<double>(pass.constants, i >> pass.shift),
                                       pass.bits, kRounding == Rounding::squares);
  const double value = decoding.value(code);
  store_finite(pass.x, i, std::isnan(value) ? quiet_nan<double>() : value);
}

template <Rounding kRounding>
__global__ void __launch_bounds__(kThreads)
    group_decode_doubles_kernel(const __grid_constant__ GroupDecodeArguments pass) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < pass.count) decode_double<kRounding>(i, pass);
}

}  // namespace fewbit::kernels::cuda
