#pragma once

#include <ATen/core/Tensor.h>

#include "compression/operators/operator.hpp"

namespace fewbit::session {

/// Whether gradients that run through the operation that made the tensor are divided by what it
/// took, element by element, or multiplied by what it gave.
bool scales_gradient(const at::Tensor& tensor);

/// Whether it is e, or 2, to the power of something, as precisions are.
bool is_exponential(const at::Tensor& tensor);

}  // namespace fewbit::session
