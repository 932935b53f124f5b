#include "examples/models/bert.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/tanh.h>

#include "examples/models/attention.hpp"

namespace fewbit::examples {

namespace nn = torch::nn;

namespace {

nn::LayerNormOptions norm_options(const BertOptions& options) {
  return nn::LayerNormOptions({options.width}).eps(1e-12);
}

}  // namespace

BertOptions bert_small() {
  return {.width = 512, .blocks = 4, .heads = 8};
}

BertOptions bert_base() {
  return {};
}

BertOptions bert_large() {
  return {.width = 1024, .blocks = 24, .heads = 16};
}

BertEmbeddingsImpl::BertEmbeddingsImpl(const BertOptions& options)
    : words(options.vocabulary, options.width),
      places(options.positions, options.width),
      types_of(2, options.width),
      norm(norm_options(options)),
      dropout(options.dropout) {
  register_module("words", words);
  register_module("places", places);
  register_module("types", types_of);
  register_module("norm", norm);
  register_module("dropout", dropout);
}

at::Tensor BertEmbeddingsImpl::forward(const at::Tensor& tokens, const at::Tensor& types) {
  const at::Tensor order = at::arange(tokens.size(1), tokens.options());
  return dropout(norm(words(tokens) + places(order) + types_of(types)));
}

BertAttentionImpl::BertAttentionImpl(const BertOptions& options)
    : heads(options.heads),
      dropout(options.attention_dropout),
      query(options.width, options.width),
      key(options.width, options.width),
      value(options.width, options.width),
      project(options.width, options.width) {
  register_module("query", query);
  register_module("key", key);
  register_module("value", value);
  register_module("project", project);
}

at::Tensor BertAttentionImpl::forward(const at::Tensor& x) {
  const at::Tensor mixed = at::scaled_dot_product_attention(
      split_heads(query(x), heads), split_heads(key(x), heads), split_heads(value(x), heads), {},
      is_training() ? dropout : 0.0);
  return project(merge_heads(mixed));
}

BertBlockImpl::BertBlockImpl(const BertOptions& options)
    : attention(options),
      up(options.width, 4 * options.width),
      down(4 * options.width, options.width),
      after_attention(norm_options(options)),
      after_feed(norm_options(options)),
      dropout(options.dropout) {
  register_module("attention", attention);
  register_module("after_attention", after_attention);
  register_module("up", up);
  register_module("down", down);
  register_module("after_feed", after_feed);
  register_module("dropout", dropout);
}

at::Tensor BertBlockImpl::forward(const at::Tensor& x) {
  const at::Tensor attended = after_attention(x + dropout(attention(x)));
  return after_feed(attended + dropout(down(at::gelu(up(attended)))));
}

BertImpl::BertImpl(const BertOptions& options)
    : embeddings(options), pooler(options.width, options.width) {
  for (int64_t i = 0; i < options.blocks; ++i) blocks->push_back(BertBlock(options));
  register_module("embeddings", embeddings);
  register_module("blocks", blocks);
  register_module("pooler", pooler);
}

at::Tensor BertImpl::forward(const at::Tensor& tokens, const at::Tensor& types) {
  const at::Tensor encoded = run_blocks(blocks, embeddings(tokens, types), run_block);
  return at::tanh(pooler(encoded.select(1, 0)));
}

BertClassifierImpl::BertClassifierImpl(const BertOptions& options)
    : bert(options), dropout(options.dropout), classifier(options.width, options.classes) {
  register_module("bert", bert);
  register_module("dropout", dropout);
  register_module("classifier", classifier);
}

at::Tensor BertClassifierImpl::forward(const at::Tensor& tokens, const at::Tensor& types) {
  return classifier(dropout(bert(tokens, types)));
}

}  // namespace fewbit::examples
