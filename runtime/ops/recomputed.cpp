#include "ops/recomputed.hpp"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_fused_sdp_choice.h>
#include <ATen/ops/_log_softmax.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <torch/library.h>

#include "ops/autocast.hpp"
#include "ops/find.hpp"

TORCH_LIBRARY_FRAGMENT(fewbit, m) {
  m.def("log_softmax(Tensor x, int dim, bool half_to_float=False) -> Tensor");
  m.def(
      "attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, "
      "float dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False) "
      "-> Tensor");
}

namespace fewbit::ops {

namespace {

at::Tensor attention_value(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                           const std::optional<at::Tensor>& mask, double dropout, bool is_causal,
                           std::optional<double> scale, bool has_groups) {
  return at::scaled_dot_product_attention(query, key, value, mask, dropout, is_causal, scale,
                                          has_groups);
}

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, CompositeExplicitAutograd, m) {
  m.impl("log_softmax", TORCH_FN(at::_log_softmax));
  m.impl("attention", attention_value);
}

at::Tensor log_softmax(const at::Tensor& x, int64_t dim, bool half_to_float) {
  static const auto operation =
      find<at::Tensor(const at::Tensor&, int64_t, bool)>("fewbit::log_softmax");
  return operation.call(x, dim, half_to_float);
}

at::Tensor attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                     const AttentionOptions& options) {
  static const auto operation = find<AttentionSignature>("fewbit::attention");
  return operation.call(in_lower_precision(query), in_lower_precision(key),
                        in_lower_precision(value), given(in_lower_precision(options.mask)),
                        options.dropout, options.is_causal, options.scale, options.has_groups);
}

at::Tensor torch_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                           const AttentionOptions& options) {
  return attention_value(query, key, value, given(options.mask), options.dropout, options.is_causal,
                         options.scale, options.has_groups);
}

bool draws_alike(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                 const AttentionOptions& options) {
  const auto kernel = [&](bool makes_graph) {
    const at::AutoGradMode mode(makes_graph);
    return at::_fused_sdp_choice(in_lower_precision(query), in_lower_precision(key),
                                 in_lower_precision(value), given(in_lower_precision(options.mask)),
                                 options.dropout, options.is_causal, options.scale,
                                 options.has_groups);
  };
  return kernel(true) == kernel(false);
}

}  // namespace fewbit::ops
