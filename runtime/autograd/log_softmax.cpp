#include <ATen/core/grad_mode.h>
#include <ATen/ops/_log_softmax.h>
#include <ATen/ops/max.h>
#include <torch/library.h>

#include "autograd/once_differentiable.hpp"
#include "ops/recomputed.hpp"

namespace fewbit::autograd {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr const char* kLogSoftmax = "fewbit::log_softmax";

/// Integers of as many bytes, which nobody takes for numbers that stand an error.
at::ScalarType integer_like(at::ScalarType type) {
  const auto bytes = c10::elementSize(type);
  return bytes == 8 ? at::kLong : bytes == 4 ? at::kInt : at::kShort;
}

/// The least that hold places in a row.
at::ScalarType place_type(const c10::SymInt& row) {
  if (row <= 256) return at::kByte;
  return row <= 32768 ? at::kShort : at::kInt;
}

/// Probabilities, the greatest of each row apart. Of a confident row the gradient is as small as
/// all the others together, so that an error that is small compared with the greatest may drown it.
variable_list greatest_apart(at::Tensor p, int64_t dim) {
  if (p.sym_numel() == 0) return {p};
  const auto [greatest, places] = at::max(p, dim, /*keepdim=*/true);
  p.scatter_(dim, places, 0.0);
  const c10::SymInt row = p.dim() == 0 ? c10::SymInt(1) : p.sym_size(dim);
  return {p, greatest.view(integer_like(p.scalar_type())), places.to(place_type(row))};
}

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
      const int64_t dim = context->saved_data["dim"].toInt();
      const at::Tensor sum = dy.sum(dim, /*keepdim=*/true);
      dx = dy.sub(saved[0].mul(sum));
      if (saved.size() > 1) {
        const at::Tensor greatest = saved[1].view(saved[0].scalar_type());
        const at::Tensor places = saved[2].to(at::kLong);
        dx.scatter_(dim, places, dy.gather(dim, places).sub_(greatest.mul(sum)));
      }
      dx = dx.to(context->saved_data["type"].toScalarType());
    }
    if (differentiated_again) {
      refuse_double_backward(
          dx, dy,
          std::string(kLogSoftmax) + ": double backward is not possible; use torch's own there");
    }
    return {dx};
  }
};

at::Tensor log_softmax(const at::Tensor& x, int64_t dim, bool half_to_float) {
  refuse_forward_mode(kLogSoftmax, x);
  if (!needs_gradient(x)) {
    const at::AutoDispatchBelowADInplaceOrView guard;
    return at::_log_softmax(x, dim, half_to_float);
  }
  return recorded<LogSoftmax>(x, [&](AutogradContext& context) {
    at::Tensor y = at::_log_softmax(x, dim, half_to_float);
    context.save_for_backward(greatest_apart(y.exp(), dim));
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
