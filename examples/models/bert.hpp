#pragma once

#include <torch/nn/cloneable.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/pimpl.h>

#include "examples/models/blocks.hpp"

/// Devlin et al., "BERT: Pre-training of deep bidirectional transformers for language
/// understanding", 2018. Sequences are as long as their batch: there is no padding and no mask.
namespace fewbit::examples {

struct BertOptions {
  int64_t vocabulary = 30522;
  int64_t positions = 512;  ///< the longest sequence
  int64_t width = 768;      ///< and 4 times that between the linear layers of a block
  int64_t blocks = 12;
  int64_t heads = 12;
  double dropout = 0.1;            ///< of embeddings and of what is added to a block's input
  double attention_dropout = 0.0;  ///< of attention's probabilities; 0.1 in the paper
  int64_t classes = 2;
};

BertOptions bert_small();  ///< of Turc et al., 2019: 4 blocks of width 512
BertOptions bert_base();
BertOptions bert_large();

/// Sums of what words, places and the two kinds of sentences have, normed.
struct BertEmbeddingsImpl : torch::nn::Module {
  explicit BertEmbeddingsImpl(const BertOptions& options);
  /// int64 [n, length] both, types 0 or 1, to [n, length, width].
  at::Tensor forward(const at::Tensor& tokens, const at::Tensor& types);

  torch::nn::Embedding words, places, types_of;
  torch::nn::LayerNorm norm;
  torch::nn::Dropout dropout;
};
TORCH_MODULE(BertEmbeddings);

struct BertAttentionImpl : torch::nn::Module {
  explicit BertAttentionImpl(const BertOptions& options);
  /// [n, length, width] to the same.
  at::Tensor forward(const at::Tensor& x);

  int64_t heads;
  double dropout;
  torch::nn::Linear query, key, value, project;
};
TORCH_MODULE(BertAttention);

/// norm(x + dropout(f(x))) by attention, then by two linear layers with GELU between them.
struct BertBlockImpl : torch::nn::Module {
  explicit BertBlockImpl(const BertOptions& options);
  /// [n, length, width] to the same.
  at::Tensor forward(const at::Tensor& x);

  BertAttention attention;
  torch::nn::Linear up, down;
  torch::nn::LayerNorm after_attention, after_feed;
  torch::nn::Dropout dropout;
};
TORCH_MODULE(BertBlock);

/// The encoder with its pooler, tanh(W x) of the first token.
struct BertImpl : torch::nn::Module {
  explicit BertImpl(const BertOptions& options);
  /// int64 [n, length] both, types 0 or 1, to [n, width].
  at::Tensor forward(const at::Tensor& tokens, const at::Tensor& types);

  BertEmbeddings embeddings;
  torch::nn::Sequential blocks;
  torch::nn::Linear pooler;
  RunBlock run_block;
};
TORCH_MODULE(Bert);

struct BertClassifierImpl : torch::nn::Module {
  explicit BertClassifierImpl(const BertOptions& options);
  /// int64 [n, length] both, types 0 or 1, to scores [n, classes].
  at::Tensor forward(const at::Tensor& tokens, const at::Tensor& types);

  Bert bert;
  torch::nn::Dropout dropout;
  torch::nn::Linear classifier;
};
TORCH_MODULE(BertClassifier);

}  // namespace fewbit::examples
