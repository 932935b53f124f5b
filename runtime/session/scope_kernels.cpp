// Kernels for torch's activations under the scope's key: few bits where the scope says so, torch's
// own otherwise. Everything else falls through.

#include <ATen/ops/celu.h>
#include <ATen/ops/elu.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/hardshrink.h>
#include <ATen/ops/hardsigmoid.h>
#include <ATen/ops/hardswish.h>
#include <ATen/ops/hardtanh.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/log_sigmoid.h>
#include <ATen/ops/mish.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/selu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/softplus.h>
#include <ATen/ops/softshrink.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/threshold.h>
#include <torch/library.h>

#include "fewbit/activation_scope.hpp"
#include "ops/activation.hpp"
#include "session/scope_key.hpp"

namespace fewbit {

namespace {

using at::Scalar;
using at::Tensor;

/// f(x) in few bits where the scope has a table for it, else what `exact` does.
template <class Exact>
Tensor run(const Tensor& x, const std::string& function, const std::vector<double>& parameters,
           const Exact& exact) {
  const c10::impl::ExcludeDispatchKeyGuard guard(kScopeKey);
  ActivationScope* scope = ActivationScope::current();
  if (scope == nullptr) return exact();
  const std::optional<Table> table = scope->table_for(x, function, parameters);
  return table ? ops::activation(x, *table) : exact();
}

/// The same in place: x takes the value, and the graph runs through the few-bit operation.
template <class Exact>
Tensor& run_in_place(Tensor& x, const std::string& function, const std::vector<double>& parameters,
                     const Exact& exact) {
  const c10::impl::ExcludeDispatchKeyGuard guard(kScopeKey);
  ActivationScope* scope = ActivationScope::current();
  const std::optional<Table> table =
      scope == nullptr ? std::nullopt : scope->table_for(x, function, parameters);
  if (!table) return exact();
  return x.copy_(ops::activation(x, *table));
}

/// Torch writes selu and celu as elu with factors of its own; the registry knows no others.
struct EluForm {
  const char* function;
  std::vector<double> parameters;
};

std::optional<EluForm> elu_form(const Scalar& alpha, const Scalar& scale,
                                const Scalar& input_scale) {
  constexpr double kSeluAlpha = 1.6732632423543772;
  constexpr double kSeluScale = 1.0507009873554805;
  const double a = alpha.toDouble();
  const double s = scale.toDouble();
  const double i = input_scale.toDouble();
  if (s == 1.0 && i == 1.0) return EluForm{"elu", {a}};
  if (s == 1.0 && i == 1.0 / a) return EluForm{"celu", {a}};
  if (i == 1.0 && std::abs(a - kSeluAlpha) < 1e-6 && std::abs(s - kSeluScale) < 1e-6) {
    return EluForm{"selu", {}};
  }
  return std::nullopt;
}

Tensor elu(const Tensor& x, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale) {
  const auto exact = [&] { return at::elu(x, alpha, scale, input_scale); };
  if (const auto form = elu_form(alpha, scale, input_scale)) {
    return run(x, form->function, form->parameters, exact);
  }
  const c10::impl::ExcludeDispatchKeyGuard guard(kScopeKey);
  if (ActivationScope* scope = ActivationScope::current()) {
    scope->note_left_alone(x, "elu", "scales other than elu's, celu's and selu's");
  }
  return exact();
}

Tensor& elu_in_place(Tensor& x, const Scalar& alpha, const Scalar& scale,
                     const Scalar& input_scale) {
  const auto exact = [&]() -> Tensor& { return at::elu_(x, alpha, scale, input_scale); };
  if (const auto form = elu_form(alpha, scale, input_scale)) {
    return run_in_place(x, form->function, form->parameters, exact);
  }
  const c10::impl::ExcludeDispatchKeyGuard guard(kScopeKey);
  if (ActivationScope* scope = ActivationScope::current()) {
    scope->note_left_alone(x, "elu", "scales other than elu's, celu's and selu's");
  }
  return exact();
}

Tensor celu(const Tensor& x, const Scalar& alpha) {
  return run(x, "celu", {alpha.toDouble()}, [&] { return at::celu(x, alpha); });
}

Tensor& celu_in_place(Tensor& x, const Scalar& alpha) {
  return run_in_place(x, "celu", {alpha.toDouble()},
                      [&]() -> Tensor& { return at::celu_(x, alpha); });
}

/// Refuses what torch refuses.
const char* gelu_function(c10::string_view approximate) {
  TORCH_CHECK(approximate == "none" || approximate == "tanh", "gelu: approximate is '", approximate,
              "', accepted: none, tanh");
  return approximate == "tanh" ? "gelu_tanh" : "gelu";
}

Tensor gelu(const Tensor& x, c10::string_view approximate) {
  return run(x, gelu_function(approximate), {}, [&] { return at::gelu(x, approximate); });
}

Tensor& gelu_in_place(Tensor& x, c10::string_view approximate) {
  return run_in_place(x, gelu_function(approximate), {},
                      [&]() -> Tensor& { return at::gelu_(x, approximate); });
}

Tensor hardshrink(const Tensor& x, const Scalar& lambda) {
  return run(x, "hardshrink", {lambda.toDouble()}, [&] { return at::hardshrink(x, lambda); });
}

Tensor hardsigmoid(const Tensor& x) {
  return run(x, "hardsigmoid", {}, [&] { return at::hardsigmoid(x); });
}

Tensor& hardsigmoid_in_place(Tensor& x) {
  return run_in_place(x, "hardsigmoid", {}, [&]() -> Tensor& { return at::hardsigmoid_(x); });
}

Tensor hardswish(const Tensor& x) {
  return run(x, "hardswish", {}, [&] { return at::hardswish(x); });
}

Tensor& hardswish_in_place(Tensor& x) {
  return run_in_place(x, "hardswish", {}, [&]() -> Tensor& { return at::hardswish_(x); });
}

Tensor hardtanh(const Tensor& x, const Scalar& min, const Scalar& max) {
  return run(x, "hardtanh", {min.toDouble(), max.toDouble()},
             [&] { return at::hardtanh(x, min, max); });
}

Tensor& hardtanh_in_place(Tensor& x, const Scalar& min, const Scalar& max) {
  return run_in_place(x, "hardtanh", {min.toDouble(), max.toDouble()},
                      [&]() -> Tensor& { return at::hardtanh_(x, min, max); });
}

Tensor leaky_relu(const Tensor& x, const Scalar& negative_slope) {
  return run(x, "leaky_relu", {negative_slope.toDouble()},
             [&] { return at::leaky_relu(x, negative_slope); });
}

Tensor& leaky_relu_in_place(Tensor& x, const Scalar& negative_slope) {
  return run_in_place(x, "leaky_relu", {negative_slope.toDouble()},
                      [&]() -> Tensor& { return at::leaky_relu_(x, negative_slope); });
}

Tensor log_sigmoid(const Tensor& x) {
  return run(x, "logsigmoid", {}, [&] { return at::log_sigmoid(x); });
}

Tensor mish(const Tensor& x) {
  return run(x, "mish", {}, [&] { return at::mish(x); });
}

Tensor& mish_in_place(Tensor& x) {
  return run_in_place(x, "mish", {}, [&]() -> Tensor& { return at::mish_(x); });
}

Tensor relu(const Tensor& x) {
  return run(x, "relu", {}, [&] { return at::relu(x); });
}

Tensor& relu_in_place(Tensor& x) {
  return run_in_place(x, "relu", {}, [&]() -> Tensor& { return at::relu_(x); });
}

Tensor selu(const Tensor& x) {
  return run(x, "selu", {}, [&] { return at::selu(x); });
}

Tensor& selu_in_place(Tensor& x) {
  return run_in_place(x, "selu", {}, [&]() -> Tensor& { return at::selu_(x); });
}

Tensor sigmoid(const Tensor& x) {
  return run(x, "sigmoid", {}, [&] { return at::sigmoid(x); });
}

Tensor& sigmoid_in_place(Tensor& x) {
  return run_in_place(x, "sigmoid", {}, [&]() -> Tensor& { return at::sigmoid_(x); });
}

Tensor silu(const Tensor& x) {
  return run(x, "silu", {1.0}, [&] { return at::silu(x); });
}

Tensor& silu_in_place(Tensor& x) {
  return run_in_place(x, "silu", {1.0}, [&]() -> Tensor& { return at::silu_(x); });
}

Tensor softplus(const Tensor& x, const Scalar& beta, const Scalar& threshold) {
  return run(x, "softplus", {beta.toDouble(), threshold.toDouble()},
             [&] { return at::softplus(x, beta, threshold); });
}

Tensor softshrink(const Tensor& x, const Scalar& lambda) {
  return run(x, "softshrink", {lambda.toDouble()}, [&] { return at::softshrink(x, lambda); });
}

Tensor tanh(const Tensor& x) {
  return run(x, "tanh", {}, [&] { return at::tanh(x); });
}

Tensor& tanh_in_place(Tensor& x) {
  return run_in_place(x, "tanh", {}, [&]() -> Tensor& { return at::tanh_(x); });
}

Tensor threshold(const Tensor& x, const Scalar& threshold, const Scalar& value) {
  return run(x, "threshold", {threshold.toDouble(), value.toDouble()},
             [&] { return at::threshold(x, threshold, value); });
}

Tensor& threshold_in_place(Tensor& x, const Scalar& threshold, const Scalar& value) {
  return run_in_place(x, "threshold", {threshold.toDouble(), value.toDouble()},
                      [&]() -> Tensor& { return at::threshold_(x, threshold, value); });
}

}  // namespace

TORCH_LIBRARY_IMPL(_, TESTING_ONLY_GenericMode, m) {
  m.fallback(torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(aten, TESTING_ONLY_GenericMode, m) {
  m.impl("celu", celu);
  m.impl("celu_", celu_in_place);
  m.impl("gelu", gelu);
  m.impl("gelu_", gelu_in_place);
  m.impl("hardshrink", hardshrink);
  m.impl("hardsigmoid", hardsigmoid);
  m.impl("hardsigmoid_", hardsigmoid_in_place);
  m.impl("hardswish", hardswish);
  m.impl("hardswish_", hardswish_in_place);
  m.impl("hardtanh", hardtanh);
  m.impl("hardtanh_", hardtanh_in_place);
  m.impl("leaky_relu", leaky_relu);
  m.impl("leaky_relu_", leaky_relu_in_place);
  m.impl("log_sigmoid", log_sigmoid);
  m.impl("mish", mish);
  m.impl("mish_", mish_in_place);
  m.impl("relu", relu);
  m.impl("relu_", relu_in_place);
  m.impl("selu", selu);
  m.impl("selu_", selu_in_place);
  m.impl("sigmoid", sigmoid);
  m.impl("sigmoid_", sigmoid_in_place);
  m.impl("silu", silu);
  m.impl("silu_", silu_in_place);
  m.impl("softplus", softplus);
  m.impl("softshrink", softshrink);
  m.impl("tanh", tanh);
  m.impl("tanh_", tanh_in_place);
  m.impl("threshold", threshold);
  m.impl("threshold_", threshold_in_place);
  m.impl("elu", elu);
  m.impl("elu_", elu_in_place);
}

}  // namespace fewbit
