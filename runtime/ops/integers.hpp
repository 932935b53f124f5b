#pragma once

#include <ATen/core/Tensor.h>

/// Exact codes of tensors that need fewer bits than their type has
/// (kernels/quantizer/integers.hpp), as operations of library `fewbit`, called through torch's
/// dispatcher.
///
///   integer_encode(Tensor x, int minimum, int bits) -> Tensor codes
///   integer_decode(Tensor codes, SymInt count, int minimum, int bits, ScalarType dtype) -> Tensor
///   sign_encode(Tensor x) -> Tensor codes
///   sign_decode(Tensor codes, SymInt count, ScalarType dtype) -> Tensor
///
/// Elements are taken in the order in which they lie in memory, those of tensors that are not dense
/// as group_encode takes them; what comes back is flat, [count] of dtype. codes: uint8
/// [ceil(n * bits / 8) rounded up to 16], element i in the bits [i * bits, (i + 1) * bits).
///
/// integer_*: bool, uint8, int or long; code x - minimum in `bits` bits, 0 to 32 (integer_bits says
/// how many are needed); without bits every element is the minimum and there are no codes.
/// sign_*: 1 where x > 0 (NaN is not) or true, of float, bfloat16, half, double or bool; comes back
/// as 1 and 0 of dtype. Not differentiable. Inputs are never changed.
///
/// Checked, with a c10::Error that names operation and argument: types, devices, the length of
/// `codes`, bits; that the minimum and the largest code lie in dtype; on a CPU, that every element
/// has a code.
namespace fewbit::ops {

at::Tensor integer_encode(const at::Tensor& x, int64_t minimum, int64_t bits);

at::Tensor integer_decode(const at::Tensor& codes, c10::SymInt count, int64_t minimum, int64_t bits,
                          at::ScalarType dtype);

at::Tensor sign_encode(const at::Tensor& x);

at::Tensor sign_decode(const at::Tensor& codes, c10::SymInt count, at::ScalarType dtype);

/// The least bits that hold all integers from `minimum` to `maximum`, 0 to 64.
int integer_bits(int64_t minimum, int64_t maximum);

}  // namespace fewbit::ops
