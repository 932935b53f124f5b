#include "examples/support/models.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <torch/nn/modules/transformerlayer.h>

namespace fewbit::examples {

namespace nn = torch::nn;

MlpImpl::MlpImpl(int64_t width) : first(64, width), second(width, width), last(width, 10) {
  register_module("first", first);
  register_module("second", second);
  register_module("last", last);
}

at::Tensor MlpImpl::forward(const at::Tensor& x, const Activate& activate) {
  return last(activate(second(activate(first(x)))));
}

std::vector<int64_t> MlpImpl::activated(int64_t n) const {
  return {n * first->options.out_features(), n * second->options.out_features()};
}

CnnImpl::CnnImpl(int64_t channels)
    : first(nn::Conv2dOptions(1, channels, 3).padding(1)),
      second(nn::Conv2dOptions(channels, 2 * channels, 3).padding(1).stride(2)),
      last(2 * channels * 16, 10) {
  register_module("first", first);
  register_module("second", second);
  register_module("last", last);
}

at::Tensor CnnImpl::forward(const at::Tensor& x, const Activate& activate) {
  const at::Tensor pictures = x.view({-1, 1, 8, 8});
  return last(activate(second(activate(first(pictures)))).flatten(1));
}

std::vector<int64_t> CnnImpl::activated(int64_t n) const {
  const int64_t channels = first->options.out_channels();
  return {n * channels * 64, n * 2 * channels * 16};
}

NormedCnnImpl::NormedCnnImpl(int64_t channels)
    : first(nn::Conv2dOptions(1, channels, 3).padding(1).bias(false)),
      second(nn::Conv2dOptions(channels, channels, 3).padding(1).bias(false)),
      first_norm(channels),
      second_norm(channels),
      last(channels * 16, 10) {
  register_module("first", first);
  register_module("first_norm", first_norm);
  register_module("second", second);
  register_module("second_norm", second_norm);
  register_module("last", last);
}

at::Tensor NormedCnnImpl::forward(const at::Tensor& x, const Activate& activate) {
  const at::Tensor maps = activate(first_norm(first(x.view({-1, 1, 8, 8}))));
  const at::Tensor pooled = at::max_pool2d(activate(second_norm(second(maps))), {2, 2});
  return last(pooled.flatten(1));
}

BlockImpl::BlockImpl(const TransformerOptions& options)
    : heads(options.heads),
      before_attention(nn::LayerNormOptions({options.width})),
      before_feed(nn::LayerNormOptions({options.width})),
      query_key_value(options.width, 3 * options.width),
      project(options.width, options.width),
      up(options.width, options.gated ? options.width * 8 / 3 : options.width * 4),
      down(up->options.out_features(), options.width) {
  register_module("before_attention", before_attention);
  register_module("before_feed", before_feed);
  register_module("query_key_value", query_key_value);
  register_module("project", project);
  register_module("up", up);
  register_module("down", down);
  if (options.gated) {
    gate = register_module("gate", nn::Linear(options.width, up->options.out_features()));
  }
}

at::Tensor BlockImpl::attention(const at::Tensor& x) {
  const int64_t n = x.size(0), length = x.size(1), width = x.size(2);
  const auto parts =
      query_key_value(x).view({n, length, 3, heads, width / heads}).permute({2, 0, 3, 1, 4});
  const at::Tensor mixed =
      at::scaled_dot_product_attention(parts[0], parts[1], parts[2], {}, 0.0, /*is_causal=*/true);
  return project(mixed.transpose(1, 2).reshape({n, length, width}));
}

at::Tensor BlockImpl::feed_forward(const at::Tensor& x, const Activate& activate) {
  return down(gate.is_empty() ? activate(up(x)) : activate(gate(x)) * up(x));
}

at::Tensor BlockImpl::forward(const at::Tensor& x, const Activate& activate) {
  const at::Tensor attended = x + attention(before_attention(x));
  return attended + feed_forward(before_feed(attended), activate);
}

TransformerImpl::TransformerImpl(const TransformerOptions& options)
    : letters(256, options.width),
      places(options.context, options.width),
      norm(nn::LayerNormOptions({options.width})),
      scores(options.width, 256) {
  register_module("letters", letters);
  register_module("places", places);
  for (int64_t i = 0; i < options.blocks; ++i) {
    blocks.push_back(register_module("block" + std::to_string(i), Block(options)));
  }
  register_module("norm", norm);
  register_module("scores", scores);
}

at::Tensor TransformerImpl::forward(const at::Tensor& bytes, const Activate& activate) {
  at::Tensor x = letters(bytes) + places(at::arange(bytes.size(1), bytes.options()));
  for (Block& block : blocks) x = block(x, activate);
  return scores(norm(x));
}

nn::TransformerEncoder make_encoder() {
  const nn::TransformerEncoderLayerOptions layer =
      nn::TransformerEncoderLayerOptions(EncoderSizes::kWidth, 4)
          .dim_feedforward(EncoderSizes::kFeedForward)
          .dropout(0.0)
          .activation(torch::kGELU);
  return nn::TransformerEncoder(nn::TransformerEncoderOptions(layer, EncoderSizes::kLayers));
}

}  // namespace fewbit::examples
