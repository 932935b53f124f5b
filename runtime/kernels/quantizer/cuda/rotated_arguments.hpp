#pragma once

#include <cstdint>
#include <span>

#include <cuda_runtime_api.h>

#include "kernels/element_type.hpp"
#include "kernels/philox.hpp"
#include "kernels/quantizer/cuda/class_maps.hpp"

/// What the kernels take by value: pointers of the device, and tables as they are looked up.
namespace fewbit::kernels::cuda {

struct RotatedEncodeArguments {
  const void* x;
  uint8_t* codes;
  void* constants;
  int64_t count;  ///< elements,
  int64_t coded;  ///< and with those that fill up the last group
  int bits;
  int states;       ///< of the trellis that picks the codes; 0: none
  bool is_aligned;  ///< x, for 16-byte accesses
  bool codes_are_aligned;
  DevicePhilox signs;
};

struct RotatedDecodeArguments {
  const uint8_t* codes;
  const void* constants;
  void* x;
  int64_t count;
  int64_t coded;
  int bits;
  int states;  ///< of the trellis that picked the codes; 0: none
  bool is_aligned;
  bool codes_are_aligned;
  DevicePhilox signs;
};

/// What one launch codes: a row of the grid for each.
template <class Arguments, int kCount>
struct Together {
  Arguments of[kCount];
};

/// As many as leave room for a table among a kernel's arguments, of 4 KiB.
inline constexpr int kMostTogether = 32;

struct ClassArguments {
  DeviceClasses classes;
  bool is_aligned;  ///< the stream, for accesses of 4 bytes
};

/// The levels above zero as the leaves of a bisection: from node n, 1 at first, a size goes to
/// 2 n + 1 where it is above node[n], else to 2 n, and has the level that it comes to after
/// bits - 1 steps.
struct MagnitudeTree {
  float node[256];
};

/// Levels that a trellis picks from, once for each of the four subsets: node 4 n + s is node n of
/// subset s, and what a tree comes to after bits - 1 steps are the subset's levels.
struct TrellisTree {
  float node[64];
  /// Of the upper half of all levels: the level, and half its square.
  float upper[16];
  float cost[16];
};

/// By code; of a trellis by what its code and subset say, generated/trellis_quantizer.hpp.
struct CodeLevels {
  float level[256];
};

MagnitudeTree magnitude_tree(int bits);
TrellisTree trellis_tree(int bits, int states);
CodeLevels code_levels(int bits, int states);

/// Each type in a file of its own, rotated_encode_f32.cu and the like: kernels of all groups take
/// long enough to compile. passes: 1 to kMostTogether of the same bits.
template <ElementType kType>
cudaError_t launch_rotated_encode_of(int64_t group, std::span<const RotatedEncodeArguments> passes,
                                     cudaStream_t stream);
template <ElementType kType>
cudaError_t launch_rotated_decode_of(int64_t group, std::span<const RotatedDecodeArguments> passes,
                                     cudaStream_t stream);
/// Of elements with classes, of types without f64: rotated_classes_f32.cu and the like.
template <ElementType kType>
cudaError_t launch_class_encode_of(int64_t group, const RotatedEncodeArguments& pass,
                                   const ClassArguments& classes, cudaStream_t stream);
template <ElementType kType>
cudaError_t launch_class_decode_of(int64_t group, const RotatedDecodeArguments& pass,
                                   const ClassArguments& classes, cudaStream_t stream);
/// Of codes that a trellis picks.
cudaError_t launch_trellis_encode(ElementType type, int64_t group,
                                  const RotatedEncodeArguments& pass, cudaStream_t stream);
cudaError_t launch_trellis_decode(ElementType type, int64_t group,
                                  const RotatedDecodeArguments& pass, cudaStream_t stream);
/// Both, of types without f64.
cudaError_t launch_trellis_class_encode(ElementType type, int64_t group,
                                        const RotatedEncodeArguments& pass,
                                        const ClassArguments& classes, cudaStream_t stream);
cudaError_t launch_trellis_class_decode(ElementType type, int64_t group,
                                        const RotatedDecodeArguments& pass,
                                        const ClassArguments& classes, cudaStream_t stream);

}  // namespace fewbit::kernels::cuda
