#include "examples/models/convolution.hpp"

#include <ATen/ops/adaptive_avg_pool2d.h>

namespace fewbit::examples {

namespace nn = torch::nn;

nn::Conv2d convolution(int64_t inputs, int64_t outputs, int64_t kernel, int64_t stride) {
  return nn::Conv2d(
      nn::Conv2dOptions(inputs, outputs, kernel).stride(stride).padding(kernel / 2).bias(false));
}

at::Tensor pooled(const at::Tensor& x) {
  return at::adaptive_avg_pool2d(x, {1, 1}).flatten(1);
}

}  // namespace fewbit::examples
