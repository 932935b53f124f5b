#include "ops/activation.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_strided.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/functions/basic_ops.h>
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
at::Tensor laid_out(const at::Tensor& dy, c10::SymIntArrayRef strides) {
  if (has_strides(dy, strides)) return dy;
  return at::empty_strided_symint(dy.sym_sizes(), strides, dy.options()).copy_(dy);
}

/// A gradient that may be used, but not differentiated: q(x) has lost f''.
at::Tensor once_differentiable(const at::Tensor& dx) {
  const auto error = std::make_shared<torch::autograd::DelayedError>(
      std::string(kName) +
          ": double backward is not possible: only few bits of f'(x) were kept, "
          "and nothing of f''(x); use torch's own activation there",
      1);
  return (*error)({dx.detach().requires_grad_()})[0];
}

/// Keeps the codes and the table's levels; x and y may go.
class FewBitActivation : public torch::autograd::Function<FewBitActivation> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const std::string& function, const std::vector<double>& parameters,
                            const at::Tensor& thresholds, const at::Tensor& interval_codes,
                            const at::Tensor& levels, bool even,
                            const std::optional<at::Generator>& generator) {
    const at::AutoDispatchBelowADInplaceOrView guard;
    const auto [y, codes] = ops::activation_forward(x, function, parameters, thresholds,
                                                    interval_codes, levels, even, generator);
    context->save_for_backward({codes, levels});
    context->saved_data["strides"] = y.sym_strides();
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    variable_list results(8);
    const at::Tensor& dy = gradients[0];
    if (!dy.defined()) return results;
    const variable_list saved = context->get_saved_variables();
    const bool differentiated_again = at::GradMode::is_enabled();
    at::Tensor dx;
    {
      const at::AutoDispatchBelowADInplaceOrView guard;
      const auto strides = context->saved_data["strides"].toSymIntVector();
      dx = ops::activation_backward(laid_out(dy, strides), saved[0], saved[1]);
    }
    results[0] = differentiated_again ? once_differentiable(dx) : dx;
    return results;
  }
};

at::Tensor activation(const at::Tensor& x, c10::string_view function, ops::Parameters parameters,
                      const at::Tensor& thresholds, const at::Tensor& interval_codes,
                      const at::Tensor& levels, bool even,
                      const std::optional<at::Generator>& generator) {
  TORCH_CHECK(!x._fw_grad(0).defined(), kName,
              ": forward-mode differentiation is not possible; use torch's own activation there");
  if (!at::GradMode::is_enabled() || !x.requires_grad()) {
    const at::AutoDispatchBelowADInplaceOrView guard;
    return ops::activation_value(x, std::string(function), parameters);
  }
  return FewBitActivation::apply(x, std::string(function), parameters.vec(), thresholds,
                                 interval_codes, levels, even, generator);
}

at::Tensor value_only(const at::Tensor& x, c10::string_view function, ops::Parameters parameters,
                      const at::Tensor&, const at::Tensor&, const at::Tensor&, bool,
                      const std::optional<at::Generator>&) {
  return ops::activation_value(x, std::string(function), parameters);
}

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, Autograd, m) {
  m.impl("activation", activation);
}

TORCH_LIBRARY_IMPL(fewbit, CompositeExplicitAutograd, m) {
  m.impl("activation", value_only);
}

}  // namespace fewbit::autograd
