#pragma once

#include <optional>

#include <ATen/core/Tensor.h>

#include "kernels/quantizer/integers.hpp"

/// Checks of the arguments of the operations of ops/integers.hpp, the same on every device. All
/// throw c10::Error naming the operation, the argument, what was seen and what is accepted.
namespace fewbit::ops {

kernels::IntegerType check_integer_type(const char* operation, at::ScalarType type);

/// The number of bits, and that all codes from the minimum on lie in the type: of `bits` bits no
/// more than it takes for the type's largest.
int check_integer_bits(const char* operation, kernels::IntegerType type, int64_t minimum,
                       int64_t bits);

/// Nothing for bool.
std::optional<kernels::ElementType> check_mask_type(const char* operation, at::ScalarType type);

}  // namespace fewbit::ops
