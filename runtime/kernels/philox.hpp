#pragma once

#include <cstdint>

namespace fewbit::kernels {

/// Where a stream of random numbers stands: the seed is the key, the offset the upper half of the
/// counter. The lower half is first + the element's index / 4, and element i takes word i % 4.
struct PhiloxState {
  uint64_t seed;
  uint64_t offset;
  uint64_t first = 0;
};

/// The same with the seed in a device's memory, so that drawing it makes no call wait.
struct DevicePhilox {
  const uint64_t* seed;
  uint64_t offset;
  uint64_t first = 0;
};

struct PhiloxWords {
  uint32_t word[4];
};

/// Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3; 2011):
/// four random words from a counter of four words and a key of two, low words first.
constexpr PhiloxWords philox(uint64_t counter_low, uint64_t counter_high, uint64_t key) {
  uint32_t w0 = static_cast<uint32_t>(counter_low);
  uint32_t w1 = static_cast<uint32_t>(counter_low >> 32);
  uint32_t w2 = static_cast<uint32_t>(counter_high);
  uint32_t w3 = static_cast<uint32_t>(counter_high >> 32);
  uint32_t key0 = static_cast<uint32_t>(key);
  uint32_t key1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{0xD2511F53u} * w0;
    const uint64_t product1 = uint64_t{0xCD9E8D57u} * w2;
    w0 = static_cast<uint32_t>(product1 >> 32) ^ w1 ^ key0;
    w2 = static_cast<uint32_t>(product0 >> 32) ^ w3 ^ key1;
    w1 = static_cast<uint32_t>(product1);
    w3 = static_cast<uint32_t>(product0);
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return {{w0, w1, w2, w3}};
}

/// A uniform number in [0, 1) of 24 bits for the element, the same wherever it is drawn.
constexpr float uniform(PhiloxState state, uint64_t element) {
  const PhiloxWords words = philox(state.first + element / 4, state.offset, state.seed);
  return static_cast<float>(words.word[element % 4] >> 8) * 0x1p-24f;
}

}  // namespace fewbit::kernels
