// What autograd says of the operations below fewbit::activation and fewbit::randomized_linear. It
// does not meet them there, but it does where they are called alone, and in transforms of functorch
// within one another: the outer one differentiates what the inner one calls. Left to themselves
// they would pass for constants.

#include <torch/library.h>

#include "autograd/once_differentiable.hpp"
#include "ops/activation.hpp"
#include "ops/randomized_linear.hpp"

namespace fewbit::autograd {

namespace {

void check_once(const at::Tensor& x) {
  constexpr const char* kName = "fewbit::activation";
  refuse_forward_mode(kName, x);
  TORCH_CHECK(!x.requires_grad() || !x.key_set().has(c10::DispatchKey::FuncTorchGradWrapper), kName,
              ": double backward is not possible, here by a transform within another; use torch's "
              "own activation there");
}

void refuse(const char* operation, const at::Tensor& y, const at::Tensor& x,
            const char* differentiable = "fewbit::activation") {
  refuse_gradient(y, x,
                  std::string(operation) + " has no gradient; " + differentiable +
                      " has one, by backward and once");
}

std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& x,
                                           const ops::ActivationArguments& arguments) {
  check_once(x);
  auto results = [&] {
    const at::AutoDispatchBelowADInplaceOrView guard;
    return ops::activation_forward(x, arguments);
  }();
  refuse("fewbit::activation_forward", std::get<0>(results), x);
  return results;
}

at::Tensor value(const at::Tensor& x, c10::string_view function, ops::Numbers parameters) {
  check_once(x);
  at::Tensor y = [&] {
    const at::AutoDispatchBelowADInplaceOrView guard;
    return ops::activation_value(x, function, parameters);
  }();
  refuse("fewbit::activation_value", y, x);
  return y;
}

at::Tensor backward(const at::Tensor& dy, const at::Tensor& codes, ops::Numbers levels) {
  check_once(dy);
  at::Tensor dx = [&] {
    const at::AutoDispatchBelowADInplaceOrView guard;
    return ops::activation_backward(dy, codes, levels);
  }();
  refuse("fewbit::activation_backward", dx, dy);
  return dx;
}

void backward_in_place(const at::Tensor& dy, const at::Tensor& codes, ops::Numbers levels) {
  check_once(dy);
  TORCH_CHECK(
      !dy.requires_grad(),
      "fewbit::activation_backward_ has no gradient; fewbit::activation has one, by backward "
      "and once");
  const at::AutoDispatchBelowADInplaceOrView guard;
  ops::activation_backward_(dy, codes, levels);
}

at::Tensor project_rows(const at::Tensor& x, c10::SymInt rows, c10::string_view projection,
                        const at::Tensor& seed) {
  refuse_forward_mode("fewbit::project_rows", x);
  at::Tensor y = [&] {
    const at::AutoDispatchBelowADInplaceOrView guard;
    return ops::project_rows(x, std::move(rows), projection, seed);
  }();
  refuse("fewbit::project_rows", y, x, "fewbit::randomized_linear");
  return y;
}

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, Autograd, m) {
  m.impl("activation_forward", ops::unpacked<forward>);
  m.impl("activation_value", value);
  m.impl("activation_backward", backward);
  m.impl("activation_backward_", backward_in_place);
  m.impl("project_rows", project_rows);
}

}  // namespace fewbit::autograd
