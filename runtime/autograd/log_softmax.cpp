#include <ATen/core/grad_mode.h>
#include <ATen/ops/_log_softmax.h>
#include <torch/library.h>

#include "autograd/once_differentiable.hpp"
#include "ops/recomputed.hpp"

namespace fewbit::autograd {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr const char* kName = "fewbit::log_softmax";

class LogSoftmax : public torch::autograd::Function<LogSoftmax> {
 public:
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const at::Tensor& dy = gradients[0];
    if (!dy.defined()) return {at::Tensor()};
    const variable_list saved = context->get_saved_variables();
    const bool differentiated_again = at::GradMode::is_enabled();
    at::Tensor dx;
    {
      const at::AutoDispatchBelowADInplaceOrView guard;
      const at::Tensor sum = dy.sum(context->saved_data["dim"].toInt(), /*keepdim=*/true);
      dx = dy.sub(saved[0].mul(sum)).to(context->saved_data["type"].toScalarType());
    }
    if (differentiated_again) {
      refuse_double_backward(
          dx, dy, std::string(kName) + ": double backward is not possible; use torch's own there");
    }
    return {dx};
  }
};

at::Tensor log_softmax(const at::Tensor& x, int64_t dim, bool half_to_float) {
  refuse_forward_mode(kName, x);
  if (!needs_gradient(x)) {
    const at::AutoDispatchBelowADInplaceOrView guard;
    return at::_log_softmax(x, dim, half_to_float);
  }
  return recorded<LogSoftmax>(x, [&](AutogradContext& context) {
    at::Tensor y = at::_log_softmax(x, dim, half_to_float);
    context.save_for_backward({y.exp()});
    context.saved_data["dim"] = dim;
    context.saved_data["type"] = x.scalar_type();
    return y;
  });
}

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, Autograd, m) {
  m.impl("log_softmax", log_softmax);
}

}  // namespace fewbit::autograd
