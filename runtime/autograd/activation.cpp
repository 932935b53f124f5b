#include "ops/activation.hpp"

#include <algorithm>
#include <numeric>

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/functions/basic_ops.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/library.h>

namespace fewbit::autograd {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr const char* kName = "fewbit::activation";

bool has_strides(const at::Tensor& tensor, c10::SymIntArrayRef strides) {
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
    if (tensor.sym_size(dim) > 1 && tensor.sym_stride(dim) != strides[static_cast<size_t>(dim)]) {
      return false;
    }
  }
  return true;
}

/// Codes follow y's memory, so dy has to lie as y did; expanded and permuted gradients are copied.
/// By operations that a batch of gradients goes through, none of them in place.
at::Tensor laid_out(const at::Tensor& dy, c10::SymIntArrayRef strides) {
  if (has_strides(dy, strides)) return dy;
  std::vector<int64_t> order(strides.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int64_t one, int64_t other) {
    return strides[static_cast<size_t>(one)] > strides[static_cast<size_t>(other)];
  });
  std::vector<int64_t> back(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  return dy.permute(order).contiguous().permute(back);
}

/// dx may be used, but not differentiated, neither by dy nor by x: q(x) has lost f''.
void refuse_to_differentiate(const at::Tensor& dx, const at::Tensor& dy) {
  torch::autograd::edge_list edges = torch::autograd::collect_next_edges(dy);
  if (const auto node = torch::autograd::get_current_node()) edges.push_back(node->next_edge(0));
  torch::autograd::set_history(
      dx, std::make_shared<torch::autograd::Error>(
              std::string(kName) +
                  ": double backward is not possible: only few bits of f'(x) were kept, "
                  "and nothing of f''(x); use torch's own activation there",
              std::move(edges)));
}

/// Keeps the codes, and the table's levels as numbers; x and y may go.
class FewBitActivation : public torch::autograd::Function<FewBitActivation> {
 public:
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const at::Tensor& dy = gradients[0];
    if (!dy.defined()) return {at::Tensor()};
    const variable_list saved = context->get_saved_variables();
    const bool differentiated_again = at::GradMode::is_enabled();
    at::Tensor dx;
    {
      const at::AutoDispatchBelowADInplaceOrView guard;
      const auto strides = context->saved_data["strides"].toSymIntVector();
      const std::vector<double> levels = context->saved_data["levels"].toDoubleVector();
      dx = ops::activation_backward(laid_out(dy, strides), saved[0], levels);
    }
    if (differentiated_again) refuse_to_differentiate(dx, dy);
    return {dx};
  }
};

/// What Function::apply does for one input and one output, but also inside the transforms of
/// functorch, which apply refuses for every function in C++: this one only calls operations.
at::Tensor recorded(const at::Tensor& x, const ops::ActivationArguments& arguments) {
  using Node = torch::autograd::CppNode<FewBitActivation>;
  const std::shared_ptr<Node> node(new Node(), torch::autograd::deleteNode);
  node->set_ctx_grad_fn(node);
  node->set_next_edges(torch::autograd::collect_next_edges(x));
  node->is_variable_input_ = {true};
  node->input_info_.emplace_back(x);
  at::Tensor y, codes;
  {
    const at::AutoDispatchBelowADInplaceOrView guard;
    std::tie(y, codes) = ops::activation_forward(x, arguments);
  }
  node->ctx_.save_for_backward({codes});
  node->ctx_.saved_data["levels"] = arguments.table.levels.vec();
  node->ctx_.saved_data["strides"] = y.sym_strides();
  torch::autograd::set_history(y, node);
  node->output_info_.emplace_back(y);
  node->save_variables_to_ctx();
  return y;
}

at::Tensor activation(const at::Tensor& x, const ops::ActivationArguments& arguments) {
  TORCH_CHECK(!x._fw_grad(0).defined(), kName,
              ": forward-mode differentiation is not possible; use torch's own activation there");
  if (!at::GradMode::is_enabled() || !x.requires_grad()) {
    const at::AutoDispatchBelowADInplaceOrView guard;
    return ops::activation_value(x, arguments.function, arguments.parameters);
  }
  return recorded(x, arguments);
}

at::Tensor value_only(const at::Tensor& x, const ops::ActivationArguments& arguments) {
  return ops::activation_value(x, arguments.function, arguments.parameters);
}

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, Autograd, m) {
  m.impl("activation", ops::unpacked<activation>);
}

TORCH_LIBRARY_IMPL(fewbit, CompositeExplicitAutograd, m) {
  m.impl("activation", ops::unpacked<value_only>);
}

}  // namespace fewbit::autograd
