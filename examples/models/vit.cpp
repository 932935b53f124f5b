#include "examples/models/vit.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>

#include "examples/models/attention.hpp"

namespace fewbit::examples {

namespace nn = torch::nn;

namespace {

nn::LayerNormOptions norm_options(const VitOptions& options) {
  return nn::LayerNormOptions({options.width}).eps(1e-6);
}

}  // namespace

VitAttentionImpl::VitAttentionImpl(const VitOptions& options)
    : heads(options.heads),
      query_key_value(options.width, 3 * options.width),
      project(options.width, options.width) {
  register_module("query_key_value", query_key_value);
  register_module("project", project);
}

at::Tensor VitAttentionImpl::forward(const at::Tensor& x) {
  const auto parts = query_key_value(x).chunk(3, -1);
  return project(merge_heads(at::scaled_dot_product_attention(
      split_heads(parts[0], heads), split_heads(parts[1], heads), split_heads(parts[2], heads))));
}

VitBlockImpl::VitBlockImpl(const VitOptions& options)
    : before_attention(norm_options(options)),
      before_feed(norm_options(options)),
      attention(options),
      up(options.width, 4 * options.width),
      down(4 * options.width, options.width) {
  register_module("before_attention", before_attention);
  register_module("attention", attention);
  register_module("before_feed", before_feed);
  register_module("up", up);
  register_module("down", down);
}

at::Tensor VitBlockImpl::forward(const at::Tensor& x) {
  const at::Tensor attended = x + attention(before_attention(x));
  return attended + down(at::gelu(up(before_feed(attended))));
}

VitImpl::VitImpl(const VitOptions& options)
    : patches(nn::Conv2dOptions(3, options.width, options.patch).stride(options.patch)),
      norm(norm_options(options)),
      classifier(options.width, options.classes) {
  TORCH_CHECK(options.picture % options.patch == 0, "Vit: pictures of ", options.picture,
              " are not divided by patches of ", options.patch);
  const int64_t side = options.picture / options.patch;
  class_token = register_parameter("class_token", at::zeros({1, 1, options.width}));
  places = register_parameter("places", at::randn({1, 1 + side * side, options.width}) * 0.02);
  for (int64_t i = 0; i < options.blocks; ++i) blocks->push_back(VitBlock(options));
  register_module("patches", patches);
  register_module("blocks", blocks);
  register_module("norm", norm);
  register_module("classifier", classifier);
}

at::Tensor VitImpl::forward(const at::Tensor& x) {
  const at::Tensor cut = patches(x).flatten(2).transpose(1, 2);
  const at::Tensor first = class_token.expand({x.size(0), -1, -1});
  const at::Tensor read = run_blocks(blocks, at::cat({first, cut}, 1) + places, run_block);
  return classifier(norm(read).select(1, 0));
}

}  // namespace fewbit::examples
