#pragma once

#include <string>
#include <vector>

#include <torch/nn/cloneable.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/modules/transformercoder.h>
#include <torch/nn/pimpl.h>

#include "examples/support/activate.hpp"

/// Models that take their activation with every call, so that one set of parameters can be
/// differentiated in several ways.
namespace fewbit::examples {

/// Digits, flat: two hidden layers.
struct MlpImpl : torch::nn::Module {
  explicit MlpImpl(int64_t width);
  /// [n, 64] to [n, 10].
  at::Tensor forward(const at::Tensor& x, const Activate& activate);
  /// Elements that pass through the activation, layer by layer, for n images.
  std::vector<int64_t> activated(int64_t n) const;

  torch::nn::Linear first, second, last;
};
TORCH_MODULE(Mlp);

/// Digits as pictures: two convolutions, the second of stride 2, and a linear layer.
struct CnnImpl : torch::nn::Module {
  explicit CnnImpl(int64_t channels);
  /// [n, 64] to [n, 10].
  at::Tensor forward(const at::Tensor& x, const Activate& activate);
  std::vector<int64_t> activated(int64_t n) const;

  torch::nn::Conv2d first, second;
  torch::nn::Linear last;
};
TORCH_MODULE(Cnn);

/// Digits as pictures: two convolutions, each with a batch norm and the activation, pooling, and a
/// linear layer.
struct NormedCnnImpl : torch::nn::Module {
  explicit NormedCnnImpl(int64_t channels);
  /// [n, 64] to [n, 10].
  at::Tensor forward(const at::Tensor& x, const Activate& activate);

  torch::nn::Conv2d first, second;
  torch::nn::BatchNorm2d first_norm, second_norm;
  torch::nn::Linear last;
};
TORCH_MODULE(NormedCnn);

struct TransformerOptions {
  int64_t blocks = 2;
  int64_t width = 64;
  int64_t heads = 4;
  int64_t context = 64;
  bool gated = false;  ///< feed-forward as activate(a x) * (b x) with 8/3 of the width, not 4
};

/// One block: attention and feed-forward, each after a layer norm and added to its input.
struct BlockImpl : torch::nn::Module {
  explicit BlockImpl(const TransformerOptions& options);
  at::Tensor forward(const at::Tensor& x, const Activate& activate);
  at::Tensor attention(const at::Tensor& x);
  at::Tensor feed_forward(const at::Tensor& x, const Activate& activate);

  int64_t heads;
  torch::nn::LayerNorm before_attention, before_feed;
  torch::nn::Linear query_key_value, project, up, down;
  torch::nn::Linear gate{nullptr};
};
TORCH_MODULE(Block);

/// Reads bytes, predicts the next one.
struct TransformerImpl : torch::nn::Module {
  explicit TransformerImpl(const TransformerOptions& options);
  /// Bytes as int64 [n, context] to scores [n, context, 256].
  at::Tensor forward(const at::Tensor& bytes, const Activate& activate);

  torch::nn::Embedding letters, places;
  std::vector<Block> blocks;
  torch::nn::LayerNorm norm;
  torch::nn::Linear scores;
};
TORCH_MODULE(Transformer);

/// torch::nn's own, with GELU, and sizes of its input [kLength, kSequences, kWidth].
struct EncoderSizes {
  static constexpr int64_t kLayers = 3, kWidth = 64, kFeedForward = 256;
  static constexpr int64_t kLength = 32, kSequences = 8;
};
torch::nn::TransformerEncoder make_encoder();

}  // namespace fewbit::examples
