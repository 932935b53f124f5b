#pragma once

#include "kernels/quantizer/cuda/decoded.hpp"
#include "kernels/quantizer/cuda/spread_codes.cuh"
#include "kernels/quantizer/normal_bins.hpp"

/// Elements to the bins that they lie in and back, a warp a tile.
namespace fewbit::kernels::cuda {

/// Which of some numbers the elements of a tile have, one after the other. One division of 64 bits
/// for all of them.
class CycleOfTile {
 public:
  __device__ CycleOfTile(const Cycle& cycle, int64_t begin)
      : run_(static_cast<int>(cycle.run < kTile ? cycle.run : kTile)),
        count_(cycle.count),
        first_(begin / cycle.run % cycle.count) {
    const int64_t left = cycle.run - begin % cycle.run;
    left_ = static_cast<int>(left < kTile ? left : kTile);
  }

  /// Whether element e, behind those asked for before, has another number than these.
  __device__ bool moves_to(int e) {
    if (e < until_) return false;
    // Longer runs than a tile end once in it at most.
    const int steps = e < left_ ? 0 : 1 + (e - left_) / run_;
    until_ = left_ + steps * run_;
    const int64_t index = first_ + steps;
    // No more steps than a tile has elements.
    index_ = index < count_   ? index
             : count_ < kTile ? static_cast<int>(index) % static_cast<int>(count_)
                              : index - count_;
    return true;
  }

  __device__ int64_t index() const { return index_; }

 private:
  int run_, left_;  ///< elements of a run, and of the first one in the tile
  int until_ = 0;   ///< the first element that has another number
  int64_t count_, first_, index_ = 0;
};

/// The numbers of an element.
class ElementBins {
 public:
  __device__ ElementBins(const NormalBins& bins, int64_t begin)
      : bins_(bins), statistics_(bins.statistics, begin), weights_(bins.weights, begin) {}

  /// To an element behind those before.
  __device__ void move_to(int e) {
    if (statistics_.moves_to(e)) {
      mean_ = bins_.mean[statistics_.index()];
      scale_ = bins_.scale[statistics_.index()];
    }
    if (weights_.moves_to(e)) {
      sign_ = bins_.sign[weights_.index()];
      zero_ = bins_.zero[weights_.index()];
      first_ = bins_.first[weights_.index()];
      shift_ = bins_.shift[weights_.index()];
    }
  }

  /// steps: 1 over the width.
  __device__ uint32_t bin_of(float x, float steps) const {
    const float u = (x - mean_) * scale_ * sign_;
    if (std::isnan(u)) return 0;
    const float last = static_cast<float>((1 << bins_.bits) - 1);
    const float code = std::fmin(std::fmax(std::floor((u - first_) * steps), 0.0f), last);
    return static_cast<uint32_t>(u >= zero_ ? std::fmax(code, shift_)
                                            : std::fmin(code, shift_ - 1.0f));
  }

  __device__ float middle_of(uint32_t bin) const {
    const auto whole = static_cast<float>(bin);
    const float middle = (whole + 0.5f) * bins_.width + first_;
    const float beyond = bins_.width * 0.5f;
    const float u =
        whole >= shift_ ? std::fmax(middle, zero_ + beyond) : std::fmin(middle, zero_ - beyond);
    return u * sign_ * scale_ + mean_;
  }

 private:
  const NormalBins& bins_;
  CycleOfTile statistics_, weights_;
  float mean_ = 0.0f, scale_ = 0.0f, sign_ = 0.0f, zero_ = 0.0f, first_ = 0.0f, shift_ = 0.0f;
};

struct NormalBinsEncodeArguments {
  NormalBins bins;
  const void* x;
  uint8_t* codes;
  int64_t count;
  float steps;       ///< 1 over the width
  uint32_t per_bit;  ///< per_bit_of(bits)
};

struct NormalBinsDecodeArguments {
  NormalBins bins;
  const uint8_t* codes;
  void* x;
  int64_t count;
};

template <ElementType kType>
__global__ void __launch_bounds__(kThreads, kBlocks)
    normal_bins_encode_kernel(const __grid_constant__ NormalBinsEncodeArguments pass) {
  __shared__ SpreadCodes tiles[kWarps];
  const Tile tile(pass.count);
  if (tile.count == 0) return;
  SpreadCodes& codes = tiles[threadIdx.x / kLanes];
  ElementBins bins(pass.bins, tile.begin);
  FEWBIT_KEEP_LOOP
  for (int e = tile.lane; e < kTile; e += kLanes) {
    uint32_t code = 0;
    if (e < tile.count) {
      bins.move_to(e);
      code = bins.bin_of(load_element<kType>(pass.x, tile.begin + e), pass.steps);
    }
    codes.of(e) = code;
  }
  __syncwarp();
  store_stream(tile, codes, pass.bins.bits, pass.per_bit, pass.codes);
}

template <ElementType kType>
__global__ void __launch_bounds__(kThreads, kBlocks)
    normal_bins_decode_kernel(const __grid_constant__ NormalBinsDecodeArguments pass) {
  __shared__ TileWords tiles[kWarps];
  const Tile tile(pass.count);
  if (tile.count == 0) return;
  TileWords& words = tiles[threadIdx.x / kLanes];
  load_stream(tile, pass.codes, pass.bins.bits, words);
  __syncwarp();
  ElementBins bins(pass.bins, tile.begin);
  FEWBIT_KEEP_LOOP
  for (int e = tile.lane; e < tile.count; e += kLanes) {
    bins.move_to(e);
    const float x = bins.middle_of(code_in(words, e, pass.bins.bits));
    store_clamped<kType>(pass.x, tile.begin + e, clamped<kType>(x));
  }
}

}  // namespace fewbit::kernels::cuda
