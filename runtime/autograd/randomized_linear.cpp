#include "ops/randomized_linear.hpp"

#include <string>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/linear.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/library.h>

#include "autograd/once_differentiable.hpp"

namespace fewbit::autograd {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr const char* kRandomizedLinear = "fewbit::randomized_linear";

/// Below autograd, and with the types that are there: autocast has had its turn before.
struct Below {
  at::AutoDispatchBelowADInplaceOrView autograd;
  c10::impl::ExcludeDispatchKeyGuard autocast{c10::autocast_dispatch_keyset};
};

struct Projected {
  c10::SymInt rows;
  std::string projection;
  at::Tensor seed;
};

/// Keeps S X, the seed, and the weight where x asks for a gradient.
class RandomizedLinear : public torch::autograd::Function<RandomizedLinear> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                            const std::optional<at::Tensor>& bias, const Projected& how) {
    const Below guard;
    const at::Tensor kept =
        ops::project_rows(ops::as_matrix(x), how.rows, how.projection, how.seed);
    context->save_for_backward({kept, how.seed, x.requires_grad() ? weight : at::Tensor()});
    context->saved_data["projection"] = how.projection;
    context->saved_data["has_bias"] = bias && bias->defined();
    return at::linear(x, weight, bias);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    variable_list result(4);  // nothing for the projection
    if (!gradients[0].defined()) return result;
    const bool differentiated_again = at::GradMode::is_enabled();
    compute(*context, gradients[0], result);
    for (size_t i = 0; i < 3 && differentiated_again; ++i) {
      if (!result[i].defined()) continue;
      refuse_double_backward(result[i], gradients[0],
                             std::string(kRandomizedLinear) +
                                 ": double backward is not possible; use torch's own linear there");
    }
    return result;
  }

 private:
  static void compute(AutogradContext& context, const at::Tensor& dy, variable_list& result) {
    const variable_list saved = context.get_saved_variables();
    const at::Tensor &kept = saved[0], &seed = saved[1], &weight = saved[2];
    const Below guard;
    const at::Tensor rows = ops::as_matrix(dy);
    if (context.needs_input_grad(0)) {
      c10::SymDimVector shape(dy.sym_sizes());
      shape.back() = weight.sym_size(1);
      result[0] = rows.mm(weight).view_symint(shape);
    }
    if (context.needs_input_grad(1)) {
      const std::string projection = context.saved_data["projection"].toStringRef();
      result[1] = ops::project_rows(rows, kept.sym_size(0), projection, seed).t().mm(kept);
    }
    // Without a bias there is no such edge.
    if (context.saved_data["has_bias"].toBool() && context.needs_input_grad(2)) {
      result[2] = rows.sum(0);
    }
  }
};

at::Tensor randomized_linear(const at::Tensor& x, const at::Tensor& weight,
                             const std::optional<at::Tensor>& bias, c10::SymInt rows,
                             c10::string_view projection, const at::Tensor& seed) {
  refuse_forward_mode(kRandomizedLinear, x);
  refuse_forward_mode(kRandomizedLinear, weight);
  if (!needs_gradient(weight)) return at::linear(x, weight, bias);
  return RandomizedLinear::apply(x, weight, bias,
                                 Projected{std::move(rows), std::string(projection), seed});
}

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, Autograd, m) {
  m.impl("randomized_linear", randomized_linear);
}

}  // namespace fewbit::autograd
