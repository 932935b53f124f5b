#include "examples/models/resnet.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/relu.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/pooling.h>

#include "examples/models/convolution.hpp"

namespace fewbit::examples {

namespace nn = torch::nn;

namespace {

constexpr int64_t kExpansion = 4;  // a bottleneck's outputs for each of its width

nn::Sequential basic_residual(int64_t inputs, int64_t width, int64_t stride) {
  return nn::Sequential(convolution(inputs, width, 3, stride), nn::BatchNorm2d(width), nn::ReLU(),
                        convolution(width, width, 3), nn::BatchNorm2d(width));
}

nn::Sequential bottleneck_residual(int64_t inputs, int64_t inner, int64_t outputs, int64_t stride) {
  return nn::Sequential(convolution(inputs, inner, 1), nn::BatchNorm2d(inner), nn::ReLU(),
                        convolution(inner, inner, 3, stride), nn::BatchNorm2d(inner), nn::ReLU(),
                        convolution(inner, outputs, 1), nn::BatchNorm2d(outputs));
}

int64_t outputs_of(const ResNetOptions& options, int64_t width) {
  return options.bottleneck ? kExpansion * width : width;
}

nn::Sequential stem_of(const ResNetOptions& options) {
  const int64_t width = options.width;
  if (options.small_pictures) {
    return nn::Sequential(convolution(3, width, 3), nn::BatchNorm2d(width), nn::ReLU());
  }
  return nn::Sequential(convolution(3, width, 7, 2), nn::BatchNorm2d(width), nn::ReLU(),
                        nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2).padding(1)));
}

}  // namespace

ResNetOptions resnet18() {
  return {.blocks = {2, 2, 2, 2}};
}

ResNetOptions resnet50() {
  return {.blocks = {3, 4, 6, 3}, .bottleneck = true};
}

ResNetOptions resnet50_cifar() {
  return {.blocks = {3, 4, 6, 3}, .bottleneck = true, .small_pictures = true, .classes = 10};
}

ResNetOptions resnet152() {
  return {.blocks = {3, 8, 36, 3}, .bottleneck = true};
}

ResNetOptions wide_resnet50_2() {
  return {.blocks = {3, 4, 6, 3}, .bottleneck = true, .widening = 2};
}

ResNetOptions resnet18_cifar() {
  return {.blocks = {2, 2, 2, 2}, .small_pictures = true, .classes = 10};
}

ResNetBlockImpl::ResNetBlockImpl(int64_t inputs, int64_t width, int64_t stride,
                                 const ResNetOptions& options) {
  const int64_t outputs = outputs_of(options, width);
  residual = options.bottleneck
                 ? bottleneck_residual(inputs, width * options.widening, outputs, stride)
                 : basic_residual(inputs, width, stride);
  if (stride != 1 || inputs != outputs) {
    shortcut = nn::Sequential(convolution(inputs, outputs, 1, stride), nn::BatchNorm2d(outputs));
  }
  register_module("residual", residual);
  register_module("shortcut", shortcut);
}

at::Tensor ResNetBlockImpl::forward(const at::Tensor& x) {
  return at::relu(residual->forward(x) + (shortcut->is_empty() ? x : shortcut->forward(x)));
}

ResNetImpl::ResNetImpl(const ResNetOptions& options) : stem(stem_of(options)) {
  int64_t inputs = options.width, width = options.width;
  for (size_t stage = 0; stage < options.blocks.size(); ++stage) {
    for (int64_t block = 0; block < options.blocks[stage]; ++block) {
      const int64_t stride = stage > 0 && block == 0 ? 2 : 1;
      stages->push_back(ResNetBlock(inputs, width, stride, options));
      inputs = outputs_of(options, width);
    }
    width *= 2;
  }
  classifier = nn::Linear(inputs, options.classes);
  register_module("stem", stem);
  register_module("stages", stages);
  register_module("classifier", classifier);
}

at::Tensor ResNetImpl::forward(const at::Tensor& x) {
  return classifier(pooled(run_blocks(stages, stem->forward(x), run_block)));
}

PreResNetBlockImpl::PreResNetBlockImpl(int64_t inputs, int64_t width, int64_t stride)
    : norm(inputs),
      residual(convolution(inputs, width, 1, stride), nn::BatchNorm2d(width), nn::ReLU(),
               convolution(width, width, 3), nn::BatchNorm2d(width), nn::ReLU(),
               convolution(width, kExpansion * width, 1)) {
  register_module("norm", norm);
  register_module("residual", residual);
  if (inputs != kExpansion * width) {
    shortcut = register_module("shortcut", convolution(inputs, kExpansion * width, 1, stride));
  }
}

at::Tensor PreResNetBlockImpl::forward(const at::Tensor& x) {
  const at::Tensor active = at::relu(norm(x));
  return residual->forward(active) + (shortcut.is_empty() ? x : shortcut(active));
}

PreResNetImpl::PreResNetImpl(const PreResNetOptions& options)
    : stem(convolution(3, options.width, 3)),
      norm(4 * kExpansion * options.width),
      classifier(4 * kExpansion * options.width, options.classes) {
  int64_t inputs = options.width;
  for (const int64_t width : {options.width, 2 * options.width, 4 * options.width}) {
    for (int64_t block = 0; block < options.blocks; ++block) {
      const int64_t stride = width != options.width && block == 0 ? 2 : 1;
      stages->push_back(PreResNetBlock(inputs, width, stride));
      inputs = kExpansion * width;
    }
  }
  register_module("stem", stem);
  register_module("stages", stages);
  register_module("norm", norm);
  register_module("classifier", classifier);
}

at::Tensor PreResNetImpl::forward(const at::Tensor& x) {
  return classifier(pooled(at::relu(norm(run_blocks(stages, stem(x), run_block)))));
}

}  // namespace fewbit::examples
