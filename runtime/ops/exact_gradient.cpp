#include "ops/exact_gradient.hpp"

#include <algorithm>
#include <array>

#include <ATen/ops/elu_backward.h>
#include <ATen/ops/gelu_backward.h>
#include <ATen/ops/hardswish_backward.h>
#include <ATen/ops/mish_backward.h>
#include <ATen/ops/silu_backward.h>
#include <ATen/ops/threshold_backward.h>
#include <c10/util/Exception.h>

namespace fewbit::ops {

namespace {

using Parameters = c10::ArrayRef<double>;

at::Tensor elu(const at::Tensor& dy, const at::Tensor& x, double alpha, double scale,
               double input_scale) {
  return at::elu_backward(dy, alpha, scale, input_scale, /*is_result=*/false, x);
}

struct Gradient {
  std::string_view function;
  at::Tensor (*of)(const at::Tensor& dy, const at::Tensor& x, Parameters parameters);
};

constexpr std::array kGradients = {
    Gradient{"celu", [](const at::Tensor& dy, const at::Tensor& x,
                        Parameters given) { return elu(dy, x, given[0], 1.0, 1.0 / given[0]); }},
    Gradient{"elu", [](const at::Tensor& dy, const at::Tensor& x,
                       Parameters given) { return elu(dy, x, given[0], 1.0, 1.0); }},
    Gradient{"selu",
             [](const at::Tensor& dy, const at::Tensor& x, Parameters /*given*/) {
               return elu(dy, x, 1.6732632423543772, 1.0507009873554805, 1.0);
             }},
    Gradient{"gelu", [](const at::Tensor& dy, const at::Tensor& x,
                        Parameters /*given*/) { return at::gelu_backward(dy, x, "none"); }},
    Gradient{"gelu_tanh", [](const at::Tensor& dy, const at::Tensor& x,
                             Parameters /*given*/) { return at::gelu_backward(dy, x, "tanh"); }},
    Gradient{"silu", [](const at::Tensor& dy, const at::Tensor& x,
                        Parameters /*given*/) { return at::silu_backward(dy, x); }},
    Gradient{"mish", [](const at::Tensor& dy, const at::Tensor& x,
                        Parameters /*given*/) { return at::mish_backward(dy, x); }},
    Gradient{"relu", [](const at::Tensor& dy, const at::Tensor& x,
                        Parameters /*given*/) { return at::threshold_backward(dy, x, 0); }},
    Gradient{"hardswish", [](const at::Tensor& dy, const at::Tensor& x,
                             Parameters /*given*/) { return at::hardswish_backward(dy, x); }},
};

}  // namespace

bool has_exact_gradient(std::string_view function, Parameters parameters) {
  if (function == "silu" && parameters[0] != 1.0) return false;  // libtorch knows no beta
  return std::ranges::find(kGradients, function, &Gradient::function) != kGradients.end();
}

at::Tensor exact_gradient(const at::Tensor& dy, const at::Tensor& x, std::string_view function,
                          Parameters parameters) {
  const auto gradient = std::ranges::find(kGradients, function, &Gradient::function);
  TORCH_CHECK(gradient != kGradients.end(), "fewbit::activation: the exact gradient of ", function,
              " is asked for, which it does not have");
  return gradient->of(dy, x, parameters);
}

}  // namespace fewbit::ops
