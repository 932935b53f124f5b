#include "ops/exact_gradient.hpp"

#include <algorithm>
#include <array>

#include <ATen/ops/elu_backward.h>
#include <ATen/ops/gelu_backward.h>
#include <ATen/ops/hardshrink_backward.h>
#include <ATen/ops/hardsigmoid_backward.h>
#include <ATen/ops/hardswish_backward.h>
#include <ATen/ops/hardtanh_backward.h>
#include <ATen/ops/leaky_relu_backward.h>
#include <ATen/ops/mish_backward.h>
#include <ATen/ops/silu_backward.h>
#include <ATen/ops/softshrink_backward.h>
#include <ATen/ops/threshold_backward.h>
#include <c10/util/Exception.h>

namespace fewbit::ops {

namespace {

struct Call {
  const at::Tensor& dy;
  const at::Tensor& kept;
  c10::ArrayRef<double> parameters;
  bool is_result;
};

at::Tensor elu(const Call& call, double alpha, double scale, double input_scale) {
  return at::elu_backward(call.dy, alpha, scale, input_scale, call.is_result, call.kept);
}

struct Gradient {
  std::string_view function;
  ExactGradient how;
  at::Tensor (*of)(const Call& call);
};

constexpr ExactGradient kSmooth = {.is_of_result = false, .is_step = false},
                        kSmoothOfResult = {.is_of_result = true, .is_step = false},
                        kStep = {.is_of_result = false, .is_step = true},
                        kStepOfResult = {.is_of_result = true, .is_step = true};

constexpr std::array kGradients = {
    Gradient{"celu", kSmoothOfResult,
             [](const Call& call) {
               const double alpha = call.parameters[0];
               return elu(call, alpha, 1.0, 1.0 / alpha);
             }},
    Gradient{"elu", kSmoothOfResult,
             [](const Call& call) { return elu(call, call.parameters[0], 1.0, 1.0); }},
    Gradient{
        "selu", kSmoothOfResult,
        [](const Call& call) { return elu(call, 1.6732632423543772, 1.0507009873554805, 1.0); }},
    Gradient{"gelu", kSmooth,
             [](const Call& call) { return at::gelu_backward(call.dy, call.kept, "none"); }},
    Gradient{"gelu_tanh", kSmooth,
             [](const Call& call) { return at::gelu_backward(call.dy, call.kept, "tanh"); }},
    Gradient{"silu", kSmooth,
             [](const Call& call) { return at::silu_backward(call.dy, call.kept); }},
    Gradient{"mish", kSmooth,
             [](const Call& call) { return at::mish_backward(call.dy, call.kept); }},
    Gradient{"hardswish", kSmooth,
             [](const Call& call) { return at::hardswish_backward(call.dy, call.kept); }},
    Gradient{"relu", kStepOfResult,
             [](const Call& call) { return at::threshold_backward(call.dy, call.kept, 0); }},
    Gradient{"leaky_relu", kStepOfResult,
             [](const Call& call) {
               return at::leaky_relu_backward(call.dy, call.kept, call.parameters[0],
                                              call.is_result);
             }},
    Gradient{"threshold", kStep,
             [](const Call& call) {
               return at::threshold_backward(call.dy, call.kept, call.parameters[0]);
             }},
    Gradient{"hardtanh", kStep,
             [](const Call& call) {
               return at::hardtanh_backward(call.dy, call.kept, call.parameters[0],
                                            call.parameters[1]);
             }},
    Gradient{"hardsigmoid", kStep,
             [](const Call& call) { return at::hardsigmoid_backward(call.dy, call.kept); }},
    Gradient{"hardshrink", kStep,
             [](const Call& call) {
               return at::hardshrink_backward(call.dy, call.kept, call.parameters[0]);
             }},
    Gradient{"softshrink", kStep,
             [](const Call& call) {
               return at::softshrink_backward(call.dy, call.kept, call.parameters[0]);
             }},
};

}  // namespace

std::optional<ExactGradient> exact_gradient_of(std::string_view function,
                                               c10::ArrayRef<double> parameters) {
  if (function == "silu" && parameters[0] != 1.0) return std::nullopt;  // libtorch knows no beta
  const auto gradient = std::ranges::find(kGradients, function, &Gradient::function);
  if (gradient == kGradients.end()) return std::nullopt;
  return gradient->how;
}

at::Tensor exact_gradient(const at::Tensor& dy, const at::Tensor& kept, std::string_view function,
                          c10::ArrayRef<double> parameters, bool in_place) {
  const auto gradient = std::ranges::find(kGradients, function, &Gradient::function);
  TORCH_CHECK(gradient != kGradients.end(), "fewbit::activation: the exact gradient of ", function,
              " is asked for, which it does not have");
  return gradient->of({dy, kept, parameters, in_place && gradient->how.is_of_result});
}

}  // namespace fewbit::ops
