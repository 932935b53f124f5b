#include "session/compression_rules.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/variable.h>

namespace fewbit::session {

namespace {

constexpr int kAny = -2;  // whichever argument or result
constexpr int kResult = -1;

// By what each class adds to the loss of a small transformer (examples/text), 400 steps, an element
// and a squared error, beside linear layers' inputs: attention at 4 bits 10 times as much, at 2
// bits 30 times; log_softmax's output, whose error goes into the exponent, at 4 bits 5 times.
constexpr Harm kLinear = {1.0};
constexpr Harm kAttention = {16.0};
constexpr Harm kProbabilities = {16.0};
constexpr Harm kLogarithms = {4.0, true};
// Where attention runs again on what is decoded.
constexpr Harm kAttentionAgain = {4.0};

struct Rule {
  std::string_view operation;
  int argument;
  Harm harm;
};

/// What is kept of what, by the operation that saves it.
constexpr std::array kRules = {
    // Products: the gradient of one factor is linear in the other.
    Rule{"aten::addmm", kAny, kLinear},
    Rule{"aten::mm", kAny, kLinear},
    Rule{"aten::bmm", kAny, kLinear},
    Rule{"aten::baddbmm", kAny, kLinear},
    Rule{"aten::addbmm", kAny, kLinear},
    Rule{"aten::linear", kAny, kLinear},
    Rule{"aten::mv", kAny, kLinear},
    Rule{"aten::mul", kAny, kLinear},
    Rule{"aten::convolution", 0, kLinear},
    Rule{"aten::_convolution", 0, kLinear},
    Rule{"aten::convolution_overrideable", 0, kLinear},
    // Norms: their inputs; means and deviations stay exact.
    Rule{"aten::native_layer_norm", 0, kLinear},
    Rule{"aten::native_batch_norm", 0, kLinear},
    Rule{"aten::_batch_norm_impl_index", 0, kLinear},
    Rule{"aten::cudnn_batch_norm", 0, kLinear},
    Rule{"aten::miopen_batch_norm", 0, kLinear},
    Rule{"aten::native_group_norm", 0, kLinear},
    Rule{"aten::_fused_rms_norm", 0, kLinear},
    // Attention: q, k, v and the output; what was summed up stays exact.
    Rule{"aten::_scaled_dot_product_flash_attention_for_cpu", 0, kAttention},
    Rule{"aten::_scaled_dot_product_flash_attention_for_cpu", 1, kAttention},
    Rule{"aten::_scaled_dot_product_flash_attention_for_cpu", 2, kAttention},
    Rule{"aten::_scaled_dot_product_flash_attention", 0, kAttention},
    Rule{"aten::_scaled_dot_product_flash_attention", 1, kAttention},
    Rule{"aten::_scaled_dot_product_flash_attention", 2, kAttention},
    Rule{"aten::_scaled_dot_product_efficient_attention", 0, kAttention},
    Rule{"aten::_scaled_dot_product_efficient_attention", 1, kAttention},
    Rule{"aten::_scaled_dot_product_efficient_attention", 2, kAttention},
    Rule{"fewbit::attention", 0, kAttentionAgain},
    Rule{"fewbit::attention", 1, kAttentionAgain},
    Rule{"fewbit::attention", 2, kAttentionAgain},
    // Probabilities in which the gradient is linear.
    Rule{"fewbit::log_softmax", kResult, kLinear},
    // Not linear in what is kept.
    Rule{"aten::_softmax", kResult, kProbabilities},
    Rule{"aten::_log_softmax", kResult, kLogarithms},
    Rule{"aten::sigmoid", kResult, kProbabilities},
    Rule{"aten::tanh", kResult, kProbabilities},
};

/// Attention's output is the result with its argument's shape; the log-sum-exp beside it is not.
bool is_attention_output(const Saving& saving) {
  return saving.argument == kResult && saving.facts.shape.size() == 4 &&
         saving.facts.operation.starts_with("aten::_scaled_dot_product_");
}

/// Nodes that give the same numbers in another form.
bool is_view_or_cast(const std::string& node) {
  constexpr std::array<std::string_view, 14> kNames = {
      "ToCopyBackward0",     "TBackward0",       "TransposeBackward0",
      "ViewBackward0",       "PermuteBackward0", "ReshapeAliasBackward0",
      "UnsafeViewBackward0", "ExpandBackward0",  "AliasBackward0",
      "SliceBackward0",      "SelectBackward0",  "SplitBackward0",
      "UnsqueezeBackward0",  "SqueezeBackward1"};
  return std::ranges::find(kNames, node) != kNames.end();
}

}  // namespace

Harm harm_of(const Saving& saving) {
  if (is_attention_output(saving)) return kAttention;
  for (const Rule& rule : kRules) {
    if (rule.operation != saving.facts.operation) continue;
    if (rule.argument == kAny || rule.argument == saving.argument) return rule.harm;
  }
  return {};
}

bool is_of_parameter(const at::Tensor& tensor) {
  const torch::autograd::Node* node = torch::autograd::impl::grad_fn_unsafe(tensor);
  while (node != nullptr && is_view_or_cast(node->name()) && node->num_outputs() == 1) {
    node = node->next_edge(0).function.get();
    if (dynamic_cast<const torch::autograd::AccumulateGrad*>(node) != nullptr) return true;
  }
  return false;
}

}  // namespace fewbit::session
