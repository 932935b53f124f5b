#pragma once

#include <ATen/core/Tensor.h>

namespace fewbit::ops {

/// (x - mean) * factor * weight + bias in every channel, in one pass over x [N, C, ...] and with
/// the type of x. mean and factor are [C], of the type of statistics; weight and bias are [C] or
/// undefined, then 1 and 0. Without a graph.
at::Tensor by_channels(const at::Tensor& x, const at::Tensor& mean, const at::Tensor& factor,
                       const at::Tensor& weight, const at::Tensor& bias);

}  // namespace fewbit::ops
