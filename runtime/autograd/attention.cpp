#include <optional>

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/library.h>

#include "autograd/once_differentiable.hpp"
#include "ops/recomputed.hpp"

namespace fewbit::autograd {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr const char* kName = "fewbit::attention";

class Attention : public torch::autograd::Function<Attention> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& query,
                            const at::Tensor& key, const at::Tensor& value,
                            const ops::AttentionOptions& options) {
    context->save_for_backward({query, key, value, options.mask});
    context->saved_data["is_causal"] = options.is_causal;
    context->saved_data["scale"] = options.scale;
    context->saved_data["has_groups"] = options.has_groups;
    return ops::torch_attention(query, key, value, options);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const bool differentiated_again = at::GradMode::is_enabled();
    variable_list inputs = context->get_saved_variables();
    const at::Tensor mask = inputs.back();
    inputs.pop_back();
    for (at::Tensor& input : inputs) input = input.detach().requires_grad_();
    variable_list result(4);  // nothing for the options
    if (gradients[0].defined()) {
      const at::Tensor y = again(*context, inputs, mask);
      variable_list computed = torch::autograd::grad({y}, inputs, {gradients[0].detach()});
      std::move(computed.begin(), computed.end(), result.begin());
    }
    for (size_t i = 0; i < inputs.size() && differentiated_again; ++i) {
      if (!result[i].defined()) continue;
      refuse_double_backward(
          result[i], gradients[0],
          std::string(kName) + ": double backward is not possible; use torch's own there");
    }
    return result;
  }

 private:
  static at::Tensor again(AutogradContext& context, const variable_list& inputs,
                          const at::Tensor& mask) {
    auto& saved = context.saved_data;
    const ops::AttentionOptions options{mask, saved["is_causal"].toBool(),
                                        saved["scale"].toOptional<double>(),
                                        saved["has_groups"].toBool()};
    const at::AutoGradMode graph(true);
    return ops::torch_attention(inputs[0], inputs[1], inputs[2], options);
  }
};

at::Tensor attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                     const std::optional<at::Tensor>& mask, bool is_causal,
                     std::optional<double> scale, bool has_groups) {
  const ops::AttentionOptions options{mask.value_or(at::Tensor()), is_causal, scale, has_groups};
  for (const at::Tensor& x : {query, key, value}) refuse_forward_mode(kName, x);
  TORCH_CHECK(!mask || !needs_gradient(*mask), kName,
              ": attn_mask asks for a gradient, which it gets from torch's own attention alone");
  if (!needs_gradient(query) && !needs_gradient(key) && !needs_gradient(value)) {
    const at::AutoDispatchBelowADInplaceOrView guard;
    return ops::torch_attention(query, key, value, options);
  }
  return Attention::apply(query, key, value, options);
}

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, Autograd, m) {
  m.impl("attention", attention);
}

}  // namespace fewbit::autograd
