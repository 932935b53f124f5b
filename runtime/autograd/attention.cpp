#include <optional>
#include <vector>

#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/clone.h>
#include <c10/util/accumulate.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/custom_class.h>
#include <torch/library.h>

#include "autograd/once_differentiable.hpp"
#include "ops/activation.hpp"
#include "ops/integers.hpp"
#include "ops/layout.hpp"
#include "ops/random_states.hpp"
#include "ops/recomputed.hpp"

namespace fewbit::autograd {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr const char* kAttention = "fewbit::attention";

/// The states of the generators that dropout drew from.
struct Drawn : torch::CustomClassHolder {
  explicit Drawn(ops::RandomStates states)
      : before(std::move(states)), after(before.now().fingerprint()) {}

  bool is_drawn_again() const { return before.now().fingerprint() == after; }

  ops::RandomStates before;
  size_t after;
};

/// The mask as it is now, whatever becomes of it until backward: true and false in a bit each,
/// flat, other types in a copy, without dimensions that are expanded.
at::Tensor mask_to_keep(AutogradContext& context, const at::Tensor& mask) {
  if (!mask.defined()) return mask;
  const at::Tensor elements = ops::unexpanded(mask);
  context.saved_data["mask_sizes"] = mask.sym_sizes();
  context.saved_data["kept_sizes"] = elements.sym_sizes();
  const bool is_packed = mask.scalar_type() == at::kBool && ops::runs_on(mask.device().type());
  context.saved_data["is_packed"] = is_packed;
  return is_packed ? ops::sign_encode(elements.contiguous()) : elements.clone();
}

at::Tensor mask_again(AutogradContext& context, at::Tensor kept) {
  if (!kept.defined()) return kept;
  auto& saved = context.saved_data;
  if (saved["is_packed"].toBool()) {
    const std::vector<c10::SymInt> sizes = saved["kept_sizes"].toSymIntVector();
    kept = ops::sign_decode(kept, c10::multiply_integers(sizes), at::kBool).view_symint(sizes);
  }
  return kept.expand_symint(saved["mask_sizes"].toSymIntVector());
}

class Attention : public torch::autograd::Function<Attention> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& query,
                            const at::Tensor& key, const at::Tensor& value,
                            const ops::AttentionOptions& options) {
    context->save_for_backward({query, key, value, mask_to_keep(*context, options.mask)});
    context->saved_data["dropout"] = options.dropout;
    context->saved_data["is_causal"] = options.is_causal;
    context->saved_data["scale"] = options.scale;
    context->saved_data["has_groups"] = options.has_groups;
    if (options.dropout == 0.0) return ops::torch_attention(query, key, value, options);
    const auto turn = ops::random_turn();
    ops::RandomStates before(at::TensorList{query});
    at::Tensor y = ops::torch_attention(query, key, value, options);
    before.forget_unmoved();
    context->saved_data["drawn"] = c10::IValue::make_capsule(c10::make_intrusive<Drawn>(before));
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const bool differentiated_again = at::GradMode::is_enabled();
    variable_list inputs = context->get_saved_variables();
    const at::Tensor mask = mask_again(*context, inputs.back());
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
          std::string(kAttention) + ": double backward is not possible; use torch's own there");
    }
    return result;
  }

 private:
  static at::Tensor again(AutogradContext& context, const variable_list& inputs,
                          const at::Tensor& mask) {
    auto& saved = context.saved_data;
    const ops::AttentionOptions options{
        mask, saved["dropout"].toDouble(), saved["is_causal"].toBool(),
        saved["scale"].toOptional<double>(), saved["has_groups"].toBool()};
    const at::AutoGradMode graph(true);
    if (options.dropout == 0.0) {
      return ops::torch_attention(inputs[0], inputs[1], inputs[2], options);
    }
    const auto drawn = c10::static_intrusive_pointer_cast<Drawn>(saved["drawn"].toCapsule());
    const ops::RandomStatesGuard random(drawn->before);
    at::Tensor y = ops::torch_attention(inputs[0], inputs[1], inputs[2], options);
    TORCH_CHECK(drawn->is_drawn_again(), kAttention,
                ": another thread drew from the random numbers of dropout, in forward or in "
                "backward; leave aten::scaled_dot_product_attention alone there");
    return y;
  }
};

at::Tensor attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                     const std::optional<at::Tensor>& mask, double dropout, bool is_causal,
                     std::optional<double> scale, bool has_groups) {
  const ops::AttentionOptions options{mask.value_or(at::Tensor()), dropout, is_causal, scale,
                                      has_groups};
  for (const at::Tensor& x : {query, key, value}) refuse_forward_mode(kAttention, x);
  TORCH_CHECK(!mask || !needs_gradient(*mask), kAttention,
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
