#pragma once

#include <ATen/core/Tensor.h>

namespace fewbit::ops {

/// What autocast, while it is on, hands to those operations of torch's that it computes in lower
/// precision: ours, which stand in their place, are none that it knows.
at::Tensor in_lower_precision(const at::Tensor& x);

}  // namespace fewbit::ops
