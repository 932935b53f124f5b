#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace fewbit::ops {

/// The words of elements 0 to count - 1 in the stream (seed, offset) of kernels/philox.hpp, as
/// int64 in [0, 2^32). By torch's operations: the same on every device, of a seed, one int64, that
/// the host does not read. About 30 of them pass over an element, in 130 calls.
at::Tensor random_words(const at::Tensor& seed, int64_t offset, int64_t count);

/// The same by their bits, lowest first: int32 0 or 1.
at::Tensor random_bits(const at::Tensor& seed, int64_t offset, int64_t count);

/// Standard normal numbers in float32, of Box and Muller: pairs of words make pairs of them.
at::Tensor random_normals(const at::Tensor& seed, int64_t offset, int64_t count);

/// Whole numbers in [0, below), int64; `below` at most 2^31, and by below / 2^32 at most one of
/// them is likelier than another.
at::Tensor random_integers(const at::Tensor& seed, int64_t offset, int64_t below, int64_t count);

}  // namespace fewbit::ops
