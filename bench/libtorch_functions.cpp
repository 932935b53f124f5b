#include "bench/libtorch_functions.hpp"

#include <ATen/ATen.h>

namespace fewbit::bench {

const std::map<std::string, LibtorchFunction>& libtorch_functions() {
  static const std::map<std::string, LibtorchFunction> kFunctions = {
      {"celu", [](const at::Tensor& x) { return at::celu(x); }},
      {"elu", [](const at::Tensor& x) { return at::elu(x); }},
      {"gelu", [](const at::Tensor& x) { return at::gelu(x); }},
      {"gelu_tanh", [](const at::Tensor& x) { return at::gelu(x, "tanh"); }},
      {"hardshrink", [](const at::Tensor& x) { return at::hardshrink(x); }},
      {"hardsigmoid", [](const at::Tensor& x) { return at::hardsigmoid(x); }},
      {"hardswish", [](const at::Tensor& x) { return at::hardswish(x); }},
      {"hardtanh", [](const at::Tensor& x) { return at::hardtanh(x); }},
      {"leaky_relu", [](const at::Tensor& x) { return at::leaky_relu(x); }},
      {"logsigmoid", [](const at::Tensor& x) { return at::log_sigmoid(x); }},
      {"mish", [](const at::Tensor& x) { return at::mish(x); }},
      {"quick_gelu", [](const at::Tensor& x) { return x * at::sigmoid(1.702 * x); }},
      {"relu", [](const at::Tensor& x) { return at::relu(x); }},
      {"relu6", [](const at::Tensor& x) { return at::relu6(x); }},
      {"relu_squared", [](const at::Tensor& x) { return at::relu(x).square(); }},
      {"selu", [](const at::Tensor& x) { return at::selu(x); }},
      {"sigmoid", [](const at::Tensor& x) { return at::sigmoid(x); }},
      {"silu", [](const at::Tensor& x) { return at::silu(x); }},
      {"softplus", [](const at::Tensor& x) { return at::softplus(x); }},
      {"softshrink", [](const at::Tensor& x) { return at::softshrink(x); }},
      {"softsign", [](const at::Tensor& x) { return x / (1 + x.abs()); }},
      {"tanh", [](const at::Tensor& x) { return at::tanh(x); }},
      {"tanhshrink", [](const at::Tensor& x) { return x - at::tanh(x); }},
      {"threshold", [](const at::Tensor& x) { return at::threshold(x, 0, 0); }},
  };
  return kFunctions;
}

}  // namespace fewbit::bench
