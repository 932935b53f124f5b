#pragma once

#include <cstdint>

namespace fewbit::kernels::cuda {

/// 2^20 / bits rounded up, by which the bits of a tile, at most 2^15, are divided by `bits`.
constexpr uint32_t per_bit_of(int bits) {
  return (uint32_t{1} << 20) / static_cast<uint32_t>(bits) + 1;
}

}  // namespace fewbit::kernels::cuda
