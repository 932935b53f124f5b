#pragma once

#include <torch/nn/modules/conv.h>

namespace fewbit::examples {

/// Square, without bias, for a batch norm after it; at stride 1 pictures keep their size.
torch::nn::Conv2d convolution(int64_t inputs, int64_t outputs, int64_t kernel, int64_t stride = 1);

/// Means of each channel: [n, channels, height, width] to [n, channels].
at::Tensor pooled(const at::Tensor& x);

}  // namespace fewbit::examples
