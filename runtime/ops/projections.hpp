#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "fewbit/randomized_linear.hpp"

namespace fewbit::ops {

/// gaussian and rademacher take rows in as few blocks as have at most 512 rows each.
int64_t block_count(int64_t rows, Projection projection);

/// S x of x [R, in], R above 0, in float or double: [rows, in]. The mean of S^T S is the identity.
/// The same S of every x with as many rows on that device.
at::Tensor projected(const at::Tensor& x, int64_t rows, Projection projection,
                     const at::Tensor& seed);

}  // namespace fewbit::ops
