#pragma once

#include <cstdint>

/// The class that each element of a run is of, as codes tell it that are stored with the elements,
/// and an affine map of each class.
namespace fewbit::kernels {

inline constexpr int kMostClasses = 32;

/// x * scale[c] + shift[c], the product rounded before the sum.
struct ClassMap {
  alignas(64) float scale[kMostClasses] = {};
  alignas(64) float shift[kMostClasses] = {};
};

/// codes: a stream of all elements' (code_stream.hpp), each below kMostClasses, in 1 to 8 bits.
struct ElementClasses {
  const uint8_t* codes;
  int bits;
  ClassMap map;
};

}  // namespace fewbit::kernels
