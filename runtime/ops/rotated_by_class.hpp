#pragma once

#include <tuple>

#include <ATen/core/Tensor.h>

#include "ops/rotated.hpp"

/// rotated_encode and rotated_decode (ops/rotated.hpp) of elements that are mapped by their classes
/// (kernels/quantizer/element_classes.hpp). On a CPU in one pass, but for doubles; elsewhere by
/// torch's operations before and behind. Nothing here waits for a device.
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

/// x * scale[c] + shift[c] for an x of class c: [classes] each, on the elements' device; of the
/// type that is computed in, double for doubles, else float.
struct ClassMap {
  at::Tensor scale, shift;
};

/// Of every class, double [classes] each.
struct ClassMoments {
  at::Tensor mean, deviation;
};

/// Of a flat run: of every so many-th element that is finite, those of all elements for a class
/// that was hardly met.
ClassMoments class_moments(const at::Tensor& run, const ElementClasses& classes, int count);

/// x: flat. Codes and constants as rotated_encode gives them, of x's type.
std::tuple<at::Tensor, at::Tensor> rotated_encode(const at::Tensor& x,
                                                  const ElementClasses& classes,
                                                  const ClassMap& map, const RotatedCodes& form,
                                                  const RandomStream& random);

/// Within the finite range of dtype.
at::Tensor rotated_decode(const at::Tensor& codes, const at::Tensor& constants, int64_t count,
                          const ElementClasses& classes, const ClassMap& map,
                          const RotatedCodes& form, at::ScalarType dtype,
                          const RandomStream& random);

}  // namespace fewbit::ops
