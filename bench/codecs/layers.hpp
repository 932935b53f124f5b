#pragma once

#include <functional>
#include <vector>

#include <ATen/core/Tensor.h>

namespace fewbit::bench {

/// y of x and a weight, linear in both: a linear layer or a convolution. So dW is linear in x.
struct Layer {
  size_t parameter;  ///< the weight's number
  at::Tensor x, weight, dy;
  std::function<at::Tensor(const at::Tensor& x, const at::Tensor& weight)> y;
};

/// Those of the graph whose input has a gradient, so that it may be coded; runs backward.
std::vector<Layer> layers_of(const at::Tensor& loss, const std::vector<at::Tensor>& parameters);

/// What an error of one element of x does to dW, squared, by element of x: the sum of dy^2 over all
/// that the element is multiplied by; |dy_t|^2 for every element of row t in a linear layer.
at::Tensor influence(const Layer& layer);

/// |dW's error|^2 in the mean where every element of x has an error of its own with that variance;
/// [groups, group] in the order of x in memory.
double noise_of(const Layer& layer, const at::Tensor& variance);

}  // namespace fewbit::bench
