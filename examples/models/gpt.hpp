#pragma once

#include <vector>

#include <torch/nn/cloneable.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include "examples/models/blocks.hpp"

/// A decoder in the form of Touvron et al., "LLaMA: Open and efficient foundation language models",
/// 2023: linear layers without bias, RMS norm (Zhang and Sennrich, 2019), rotary places (Su et al.,
/// "RoFormer", 2021) and SwiGLU (Shazeer, "GLU variants improve transformer", 2020).
namespace fewbit::examples {

/// By default width, blocks and heads of the smallest GPT-2, and LLaMA's vocabulary.
struct GptOptions {
  int64_t vocabulary = 32000;
  int64_t width = 768;  ///< and 8/3 of that between the linear layers of a block
  int64_t blocks = 12;
  int64_t heads = 12;  ///< each of an even number of channels
};

/// Angles by which each pair of a head's channels is turned at each place; cosines and sines,
/// both [length, size / 2].
struct Rotation {
  at::Tensor cosines, sines;
};

/// At place p channels 2i and 2i + 1 turn by p * 10000^(-2i / size). As x in type and device.
Rotation make_rotation(int64_t length, int64_t size, const at::Tensor& x);

/// [n, heads, length, size] to the same.
at::Tensor rotate(const at::Tensor& x, const Rotation& rotation);

/// weight * x / sqrt(mean(x^2) + 1e-6), the mean over the last dimension.
struct RmsNormImpl : torch::nn::Module {
  explicit RmsNormImpl(int64_t width);
  /// [..., width] to the same.
  at::Tensor forward(const at::Tensor& x);

  at::Tensor weight;  ///< [width]
};
TORCH_MODULE(RmsNorm);

/// Causal: no place sees a later one.
struct GptAttentionImpl : torch::nn::Module {
  explicit GptAttentionImpl(const GptOptions& options);
  /// [n, length, width] to the same.
  at::Tensor forward(const at::Tensor& x, const Rotation& rotation);

  int64_t heads;
  torch::nn::Linear query, key, value, project;
};
TORCH_MODULE(GptAttention);

/// x + f(norm(x)) by attention, then by down(silu(gate y) * up y).
struct GptBlockImpl : torch::nn::Module {
  explicit GptBlockImpl(const GptOptions& options);
  /// [n, length, width] to the same.
  at::Tensor forward(const at::Tensor& x, const Rotation& rotation);
  at::Tensor feed_forward(const at::Tensor& x);

  RmsNorm before_attention, before_feed;
  GptAttention attention;
  torch::nn::Linear gate, up, down;
};
TORCH_MODULE(GptBlock);

struct GptImpl : torch::nn::Module {
  explicit GptImpl(const GptOptions& options);
  /// int64 [n, length] to scores of the next token [n, length, vocabulary].
  at::Tensor forward(const at::Tensor& tokens);

  int64_t head_size;
  torch::nn::Embedding words;
  std::vector<GptBlock> blocks;
  RmsNorm norm;
  torch::nn::Linear scores;
  RunBlock run_block;
};
TORCH_MODULE(Gpt);

}  // namespace fewbit::examples
