#pragma once

#include <torch/nn/cloneable.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/pimpl.h>

namespace fewbit::examples {

/// Column A, of 11 layers with weights, in Simonyan and Zisserman, "Very deep convolutional
/// networks for large-scale image recognition", 2014.
struct VggOptions {
  bool batch_norm = false;  ///< after every convolution; the paper has none
  int64_t picture = 224;    ///< height and width, a multiple of 32
  int64_t width = 64;       ///< channels of the first convolution; the last has eight times as many
  int64_t hidden = 4096;    ///< width of the classifier
  double dropout = 0.5;     ///< after each hidden layer of the classifier
  int64_t classes = 1000;
};

struct VggImpl : torch::nn::Module {
  explicit VggImpl(const VggOptions& options);
  /// [n, 3, picture, picture] to scores [n, classes].
  at::Tensor forward(const at::Tensor& x);

  torch::nn::Sequential features, classifier;
};
TORCH_MODULE(Vgg);

}  // namespace fewbit::examples
