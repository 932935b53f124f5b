#pragma once

#include <optional>
#include <tuple>

#include <ATen/core/Tensor.h>

#include "ops/rotated.hpp"

/// rotated_encode and rotated_decode (ops/rotated.hpp) of elements that are mapped by their classes
/// (kernels/quantizer/element_classes.hpp, class_maps.hpp), as operations of library `fewbit`:
///
///   class_maps(Tensor x, Tensor classes, int class_bits, int count, int zero)
///       -> (Tensor there, Tensor back)
///   rotated_class_encode(Tensor x, Tensor classes, int class_bits, Tensor map, int bits,
///                        int group, int states, Tensor seed, int offset)
///       -> (Tensor codes, Tensor constants)
///   rotated_class_decode(Tensor codes, Tensor constants, SymInt count, Tensor classes,
///                        int class_bits, Tensor map, int bits, int group, int states,
///                        ScalarType dtype, Tensor seed, int offset, SymInt first=0) -> Tensor
///
/// One pass each, without doubles; the functions below do those, too, by torch's operations before
/// and behind. Nothing here waits for a device.
namespace fewbit::ops {

/// The classes that there can be.
using kernels::kMostClasses;

/// codes: a stream of the classes, as integer_encode gives it, bits of each, 1 to 8.
struct ElementClasses {
  at::Tensor codes;
  int bits;

  /// uint8 [count].
  at::Tensor bytes(int64_t count) const;
};

/// Scales and shifts, [2, classes] each on the elements' device, of the type that is computed in:
/// double for doubles, else float. An x of class c becomes x * scale[c] + shift[c].
struct ClassMaps {
  at::Tensor there, back;
};

/// Of a flat run. zero: the class whose elements are 0.
ClassMaps class_maps(const at::Tensor& run, const ElementClasses& classes, int count,
                     std::optional<int> zero);

/// x: flat. map: [2, classes]. Codes and constants as rotated_encode gives them, of x's type.
std::tuple<at::Tensor, at::Tensor> rotated_encode(const at::Tensor& x,
                                                  const ElementClasses& classes,
                                                  const at::Tensor& map, const RotatedCodes& form,
                                                  const RandomStream& random);

/// Within the finite range of dtype.
at::Tensor rotated_decode(const at::Tensor& codes, const at::Tensor& constants, int64_t count,
                          const ElementClasses& classes, const at::Tensor& map,
                          const RotatedCodes& form, at::ScalarType dtype,
                          const RandomStream& random, int64_t first = 0);

}  // namespace fewbit::ops
