#pragma once

#include <vector>

#include <torch/nn/cloneable.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include "examples/models/blocks.hpp"

/// Residual networks: He et al., "Deep residual learning for image recognition", 2015; Zagoruyko
/// and Komodakis, "Wide residual networks", 2016; He et al., "Identity mappings in deep residual
/// networks", 2016.
namespace fewbit::examples {

struct ResNetOptions {
  std::vector<int64_t> blocks;  ///< of each stage; a stage is twice as wide as the one before
  bool bottleneck = false;      ///< blocks of 1x1, 3x3 and 1x1 convolutions, not of two 3x3
  int64_t width = 64;           ///< channels in the first stage; four times that after a bottleneck
  int64_t widening = 1;         ///< of a bottleneck's inner channels
  bool small_pictures = false;  ///< begins with a 3x3 convolution, not with 7x7 and pooling
  int64_t classes = 1000;
};

/// Table 1 of the first paper.
ResNetOptions resnet18();
ResNetOptions resnet50();
ResNetOptions resnet50_cifar();  ///< with the stem and the pictures of resnet18_cifar
ResNetOptions resnet152();
/// The second paper's WRN-50-2-bottleneck.
ResNetOptions wide_resnet50_2();
/// ResNet-18 for 32x32 pictures of 10 classes.
ResNetOptions resnet18_cifar();

/// relu(F(x) + x), or relu(F(x) + W x) where the shape changes. A bottleneck has its stride in the
/// 3x3 convolution, where the paper has it in the first 1x1.
struct ResNetBlockImpl : torch::nn::Module {
  ResNetBlockImpl(int64_t inputs, int64_t width, int64_t stride, const ResNetOptions& options);
  /// [n, inputs, h, w] to [n, outputs, h / stride, w / stride].
  at::Tensor forward(const at::Tensor& x);

  torch::nn::Sequential residual, shortcut;
};
TORCH_MODULE(ResNetBlock);

struct ResNetImpl : torch::nn::Module {
  explicit ResNetImpl(const ResNetOptions& options);
  /// [n, 3, h, w] to scores [n, classes].
  at::Tensor forward(const at::Tensor& x);

  torch::nn::Sequential stem, stages;
  torch::nn::Linear classifier{nullptr};
  RunBlock run_block;
};
TORCH_MODULE(ResNet);

/// The third paper's ResNet-164 for 32x32 pictures: 3 stages of bottlenecks.
struct PreResNetOptions {
  int64_t blocks = 18;  ///< of each stage
  int64_t width = 16;   ///< inner channels in the first stage
  int64_t classes = 10;
};

/// F(a) + x with a = relu(norm(x)), or F(a) + W a where the shape changes. The stride is in the
/// first 1x1 convolution.
struct PreResNetBlockImpl : torch::nn::Module {
  PreResNetBlockImpl(int64_t inputs, int64_t width, int64_t stride);
  /// [n, inputs, h, w] to [n, 4 * width, h / stride, w / stride].
  at::Tensor forward(const at::Tensor& x);

  torch::nn::BatchNorm2d norm;
  torch::nn::Sequential residual;
  torch::nn::Conv2d shortcut{nullptr};
};
TORCH_MODULE(PreResNetBlock);

struct PreResNetImpl : torch::nn::Module {
  explicit PreResNetImpl(const PreResNetOptions& options);
  /// [n, 3, h, w] to scores [n, classes].
  at::Tensor forward(const at::Tensor& x);

  torch::nn::Conv2d stem;
  torch::nn::Sequential stages;
  torch::nn::BatchNorm2d norm;
  torch::nn::Linear classifier;
  RunBlock run_block;
};
TORCH_MODULE(PreResNet);

}  // namespace fewbit::examples
