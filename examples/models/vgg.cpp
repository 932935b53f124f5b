#include "examples/models/vgg.hpp"

#include <array>
#include <vector>

#include <c10/util/Exception.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/pooling.h>

namespace fewbit::examples {

namespace nn = torch::nn;

namespace {

// Outputs of the convolutions between poolings, in widths of the first one.
const std::array<std::vector<int64_t>, 5> kStages{{{1}, {2}, {4, 4}, {8, 8}, {8, 8}}};
constexpr int64_t kShrinking = 32;  // all poolings together

nn::Sequential features_of(const VggOptions& options) {
  nn::Sequential layers;
  int64_t inputs = 3;
  for (const auto& stage : kStages) {
    for (const int64_t times : stage) {
      const int64_t outputs = times * options.width;
      layers->push_back(nn::Conv2d(nn::Conv2dOptions(inputs, outputs, 3).padding(1)));
      if (options.batch_norm) layers->push_back(nn::BatchNorm2d(outputs));
      layers->push_back(nn::ReLU());
      inputs = outputs;
    }
    layers->push_back(nn::MaxPool2d(2));
  }
  return layers;
}

nn::Sequential classifier_of(const VggOptions& options) {
  const int64_t side = options.picture / kShrinking, hidden = options.hidden;
  return nn::Sequential(nn::Linear(8 * options.width * side * side, hidden), nn::ReLU(),
                        nn::Dropout(options.dropout), nn::Linear(hidden, hidden), nn::ReLU(),
                        nn::Dropout(options.dropout), nn::Linear(hidden, options.classes));
}

}  // namespace

VggImpl::VggImpl(const VggOptions& options) {
  TORCH_CHECK(options.picture > 0 && options.picture % kShrinking == 0, "Vgg: pictures of ",
              options.picture, " by ", options.picture, ", not of a multiple of ", kShrinking);
  features = register_module("features", features_of(options));
  classifier = register_module("classifier", classifier_of(options));
}

at::Tensor VggImpl::forward(const at::Tensor& x) {
  return classifier->forward(features->forward(x).flatten(1));
}

}  // namespace fewbit::examples
