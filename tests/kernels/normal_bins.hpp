#pragma once

#include <cmath>
#include <random>
#include <vector>

#include "kernels/quantizer/normal_bins.hpp"

/// Numbers of norms that elements are coded by.
namespace fewbit::kernels {

/// Channels of pictures, the last dimension of rows, groups, one for all; runs shorter than a block
/// and longer.
inline constexpr Cycle kCycles[] = {{1, 24},   {1, 700},  {49, 6}, {77, 5},
                                    {1200, 3}, {3, 1000}, {1, 1}};

/// Numbers of both cycles, zeros to either side of the bins.
struct BinNumbers {
  Cycle statistics, weights;
  std::vector<float> mean, scale, sign, zero, first, shift;

  BinNumbers(const Cycle& of_statistics, const Cycle& of_weights, int bits)
      : statistics(of_statistics), weights(of_weights) {
    std::mt19937 random(17);
    std::normal_distribution<float> normal;
    for (int64_t i = 0; i < statistics.count; ++i) {
      mean.push_back(normal(random));
      scale.push_back(std::exp(normal(random)));
    }
    std::uniform_int_distribution<int> any_shift(1, (1 << bits) - 1);
    for (int64_t i = 0; i < weights.count; ++i) {
      sign.push_back(i % 3 == 0 ? -1.0f : 1.0f);
      zero.push_back(2.0f * normal(random));
      first.push_back(-3.0f + 0.3f * normal(random));
      shift.push_back(static_cast<float>(any_shift(random)));
    }
  }

  NormalBins bins(int bits) const {
    return {bits,         6.0f / static_cast<float>(1 << bits),
            statistics,   mean.data(),
            scale.data(), weights,
            sign.data(),  zero.data(),
            first.data(), shift.data()};
  }
};

}  // namespace fewbit::kernels
