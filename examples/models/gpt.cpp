#include "examples/models/gpt.hpp"

#include <string>

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/stack.h>
#include <c10/util/Exception.h>

#include "examples/models/attention.hpp"

namespace fewbit::examples {

namespace nn = torch::nn;

namespace {

nn::Linear unbiased(int64_t inputs, int64_t outputs) {
  return nn::Linear(nn::LinearOptions(inputs, outputs).bias(false));
}

int64_t hidden_of(const GptOptions& options) {
  return options.width * 8 / 3;
}

}  // namespace

Rotation make_rotation(int64_t length, int64_t size, const at::Tensor& x) {
  const auto exact = x.options().dtype(at::kDouble);
  const at::Tensor speeds = at::pow(10000.0, at::arange(0, size, 2, exact) / -size);
  const at::Tensor angles = at::outer(at::arange(length, exact), speeds);
  return {angles.cos().to(x.scalar_type()), angles.sin().to(x.scalar_type())};
}

at::Tensor rotate(const at::Tensor& x, const Rotation& rotation) {
  const auto& [cosines, sines] = rotation;
  const auto pair = x.unflatten(-1, {-1, 2}).unbind(-1);
  return at::stack({pair[0] * cosines - pair[1] * sines, pair[0] * sines + pair[1] * cosines}, -1)
      .flatten(-2);
}

RmsNormImpl::RmsNormImpl(int64_t width) : weight(register_parameter("weight", at::ones({width}))) {}

at::Tensor RmsNormImpl::forward(const at::Tensor& x) {
  return at::rms_norm(x, weight.sizes(), weight, 1e-6);
}

GptAttentionImpl::GptAttentionImpl(const GptOptions& options)
    : heads(options.heads),
      query(unbiased(options.width, options.width)),
      key(unbiased(options.width, options.width)),
      value(unbiased(options.width, options.width)),
      project(unbiased(options.width, options.width)) {
  register_module("query", query);
  register_module("key", key);
  register_module("value", value);
  register_module("project", project);
}

at::Tensor GptAttentionImpl::forward(const at::Tensor& x, const Rotation& rotation) {
  const at::Tensor mixed = at::scaled_dot_product_attention(
      rotate(split_heads(query(x), heads), rotation), rotate(split_heads(key(x), heads), rotation),
      split_heads(value(x), heads), {}, 0.0, /*is_causal=*/true);
  return project(merge_heads(mixed));
}

GptBlockImpl::GptBlockImpl(const GptOptions& options)
    : before_attention(options.width),
      before_feed(options.width),
      attention(options),
      gate(unbiased(options.width, hidden_of(options))),
      up(unbiased(options.width, hidden_of(options))),
      down(unbiased(hidden_of(options), options.width)) {
  register_module("before_attention", before_attention);
  register_module("attention", attention);
  register_module("before_feed", before_feed);
  register_module("gate", gate);
  register_module("up", up);
  register_module("down", down);
}

at::Tensor GptBlockImpl::feed_forward(const at::Tensor& x) {
  return down(at::silu(gate(x)) * up(x));
}

at::Tensor GptBlockImpl::forward(const at::Tensor& x, const Rotation& rotation) {
  const at::Tensor attended = x + attention(before_attention(x), rotation);
  return attended + feed_forward(before_feed(attended));
}

GptImpl::GptImpl(const GptOptions& options)
    : head_size(options.width / options.heads),
      words(options.vocabulary, options.width),
      norm(options.width),
      scores(unbiased(options.width, options.vocabulary)) {
  TORCH_CHECK(options.width % (2 * options.heads) == 0, "Gpt: ", options.width,
              " channels are not ", options.heads, " heads of an even number each");
  register_module("words", words);
  for (int64_t i = 0; i < options.blocks; ++i) {
    blocks.push_back(register_module("block" + std::to_string(i), GptBlock(options)));
  }
  register_module("norm", norm);
  register_module("scores", scores);
}

at::Tensor GptImpl::forward(const at::Tensor& tokens) {
  at::Tensor x = words(tokens);
  const Rotation rotation = make_rotation(tokens.size(1), head_size, x);
  for (GptBlock& one : blocks) {
    const Block block = [one, rotation](const at::Tensor& input) mutable {
      return one(input, rotation);
    };
    x = examples::run_block(block, x, run_block);
  }
  return scores(norm(x));
}

}  // namespace fewbit::examples
