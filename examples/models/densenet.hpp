#pragma once

#include <vector>

#include <torch/nn/cloneable.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

namespace fewbit::examples {

/// DenseNet-121 in Huang et al., "Densely connected convolutional networks", 2016, with bottlenecks
/// and transitions that halve the channels (DenseNet-BC).
struct DenseNetOptions {
  std::vector<int64_t> layers = {6, 12, 24, 16};  ///< of each dense block
  int64_t growth = 32;                            ///< channels that each layer adds
  int64_t classes = 1000;
};

/// x beside what batch norm, relu and convolution, 1x1 and then 3x3, make of it.
struct DenseLayerImpl : torch::nn::Module {
  DenseLayerImpl(int64_t inputs, int64_t growth);
  /// [n, inputs, h, w] to [n, inputs + growth, h, w].
  at::Tensor forward(const at::Tensor& x);

  torch::nn::Sequential added;
};
TORCH_MODULE(DenseLayer);

struct DenseNetImpl : torch::nn::Module {
  explicit DenseNetImpl(const DenseNetOptions& options);
  /// [n, 3, h, w] to scores [n, classes].
  at::Tensor forward(const at::Tensor& x);

  torch::nn::Sequential features;
  torch::nn::Linear classifier{nullptr};
};
TORCH_MODULE(DenseNet);

}  // namespace fewbit::examples
