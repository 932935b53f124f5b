#pragma once

#include <torch/nn/cloneable.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/pimpl.h>

#include "examples/models/blocks.hpp"

/// Dosovitskiy et al., "An image is worth 16x16 words", 2020; the size ViT-S/16, without dropout,
/// is that of Touvron et al., "Training data-efficient image transformers", 2020.
namespace fewbit::examples {

struct VitOptions {
  int64_t picture = 224;  ///< height and width, a multiple of the patch
  int64_t patch = 16;
  int64_t width = 384;  ///< and 4 times that between the linear layers of a block
  int64_t blocks = 12;
  int64_t heads = 6;
  int64_t classes = 1000;
};

struct VitAttentionImpl : torch::nn::Module {
  explicit VitAttentionImpl(const VitOptions& options);
  /// [n, length, width] to the same.
  at::Tensor forward(const at::Tensor& x);

  int64_t heads;
  torch::nn::Linear query_key_value, project;
};
TORCH_MODULE(VitAttention);

/// x + f(norm(x)) by attention, then by two linear layers with GELU between them.
struct VitBlockImpl : torch::nn::Module {
  explicit VitBlockImpl(const VitOptions& options);
  /// [n, length, width] to the same.
  at::Tensor forward(const at::Tensor& x);

  torch::nn::LayerNorm before_attention, before_feed;
  VitAttention attention;
  torch::nn::Linear up, down;
};
TORCH_MODULE(VitBlock);

/// Reads patches after a token of its own, whose last state gives the scores.
struct VitImpl : torch::nn::Module {
  explicit VitImpl(const VitOptions& options);
  /// [n, 3, picture, picture] to scores [n, classes].
  at::Tensor forward(const at::Tensor& x);

  torch::nn::Conv2d patches;
  at::Tensor class_token;  ///< [1, 1, width]
  at::Tensor places;       ///< [1, 1 + patches, width]
  torch::nn::Sequential blocks;
  torch::nn::LayerNorm norm;
  torch::nn::Linear classifier;
  RunBlock run_block;
};
TORCH_MODULE(Vit);

}  // namespace fewbit::examples
