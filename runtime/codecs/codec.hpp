#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "ops/rotated.hpp"

/// How a saved tensor is kept: as plain tensors, and back. Codecs have no state; what is kept knows
/// how to come back.
namespace fewbit::codecs {

using ops::RandomStream;

/// A run of elements in the order of their memory, as a codec keeps it.
class Encoded {
 public:
  virtual ~Encoded() = default;
  /// The run again: flat, of its type, on its device. In any thread, as often as is asked.
  virtual at::Tensor decoded() const = 0;
  /// All that is held.
  virtual at::TensorList tensors() const = 0;
};

class Codec {
 public:
  virtual ~Codec() = default;
  /// "rotated, 2 bits".
  virtual std::string name() const = 0;
  virtual bool takes(const at::Tensor& x) const = 0;
  /// x: dense, without gradient, taken in the order of its memory. Null where its values are none
  /// that the codec holds.
  virtual std::shared_ptr<const Encoded> encode(const at::Tensor& x,
                                                const RandomStream& random) const = 0;
};

using CodecPointer = std::shared_ptr<const Codec>;

/// Elements that share constants: 64, 128, 256, 512 or 1024.
constexpr bool is_group(int64_t elements) {
  return elements >= 64 && elements <= 1024 && (elements & (elements - 1)) == 0;
}

/// Rotation and the best table for N(0, 1): ops/rotated.hpp. 1 to 8 bits. Least error, without bias
/// but where a few elements of a group are all of it.
CodecPointer rotated(int bits, int64_t group = 256);

/// Its squared error over the energy, of Gaussian runs.
double rotated_error(int bits);

/// Steps between a group's least and greatest element, rounded at random: ops/group.hpp. 1 to 8
/// bits. Without any bias, and never beyond these two.
CodecPointer grouped(int bits, int64_t group = 256);

/// Zeros and one other value, as a mask that scales has: 1 bit, exact. Of float types and bool.
CodecPointer mask();

/// Integers by the least bits that hold their range: exact.
CodecPointer integers();

/// Sizes and strides alone; comes back as NaN.
CodecPointer sizes_only();

}  // namespace fewbit::codecs
