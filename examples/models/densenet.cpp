#include "examples/models/densenet.hpp"

#include <ATen/ops/cat.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/pooling.h>

#include "examples/models/convolution.hpp"

namespace fewbit::examples {

namespace nn = torch::nn;

DenseLayerImpl::DenseLayerImpl(int64_t inputs, int64_t growth)
    : added(nn::BatchNorm2d(inputs), nn::ReLU(), convolution(inputs, 4 * growth, 1),
            nn::BatchNorm2d(4 * growth), nn::ReLU(), convolution(4 * growth, growth, 3)) {
  register_module("added", added);
}

at::Tensor DenseLayerImpl::forward(const at::Tensor& x) {
  return at::cat({x, added->forward(x)}, 1);
}

DenseNetImpl::DenseNetImpl(const DenseNetOptions& options) {
  int64_t width = 2 * options.growth;
  features = nn::Sequential(convolution(3, width, 7, 2), nn::BatchNorm2d(width), nn::ReLU(),
                            nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2).padding(1)));
  for (size_t block = 0; block < options.layers.size(); ++block) {
    if (block > 0) {
      features->extend(*nn::Sequential(nn::BatchNorm2d(width), nn::ReLU(),
                                       convolution(width, width / 2, 1), nn::AvgPool2d(2)));
      width /= 2;
    }
    for (int64_t layer = 0; layer < options.layers[block]; ++layer) {
      features->push_back(DenseLayer(width, options.growth));
      width += options.growth;
    }
  }
  features->push_back(nn::BatchNorm2d(width));
  features->push_back(nn::ReLU());
  classifier = nn::Linear(width, options.classes);
  register_module("features", features);
  register_module("classifier", classifier);
}

at::Tensor DenseNetImpl::forward(const at::Tensor& x) {
  return classifier(pooled(features->forward(x)));
}

}  // namespace fewbit::examples
