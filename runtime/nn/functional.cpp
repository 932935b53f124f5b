#include "fewbit/functional.hpp"

#include <c10/util/Exception.h>

#include "ops/activation.hpp"

namespace fewbit {

at::Tensor activation(const at::Tensor& x, const Table& table,
                      const std::optional<at::Generator>& generator) {
  return ops::activation(x, table, generator);
}

at::Tensor gelu(const at::Tensor& x, Bits bits, const std::string& approximate) {
  TORCH_CHECK(approximate == "none" || approximate == "tanh", "fewbit::gelu: approximate is '",
              approximate, "', accepted: none, tanh");
  const char* function = approximate == "tanh" ? "gelu_tanh" : "gelu";
  return activation(x, Table::standard(function, bits));
}

at::Tensor celu(const at::Tensor& x, Bits bits, double alpha) {
  return activation(x, Table::standard("celu", bits, {alpha}));
}

at::Tensor elu(const at::Tensor& x, Bits bits, double alpha) {
  return activation(x, Table::standard("elu", bits, {alpha}));
}

at::Tensor hardswish(const at::Tensor& x, Bits bits) {
  return activation(x, Table::standard("hardswish", bits));
}

at::Tensor log_sigmoid(const at::Tensor& x, Bits bits) {
  return activation(x, Table::standard("logsigmoid", bits));
}

at::Tensor mish(const at::Tensor& x, Bits bits) {
  return activation(x, Table::standard("mish", bits));
}

at::Tensor quick_gelu(const at::Tensor& x, Bits bits) {
  return activation(x, Table::standard("quick_gelu", bits));
}

at::Tensor relu_squared(const at::Tensor& x, Bits bits) {
  return activation(x, Table::standard("relu_squared", bits));
}

at::Tensor selu(const at::Tensor& x, Bits bits) {
  return activation(x, Table::standard("selu", bits));
}

at::Tensor sigmoid(const at::Tensor& x, Bits bits) {
  return activation(x, Table::standard("sigmoid", bits));
}

at::Tensor silu(const at::Tensor& x, Bits bits, double beta) {
  return activation(x, Table::standard("silu", bits, {beta}));
}

at::Tensor softplus(const at::Tensor& x, Bits bits, double beta, double threshold) {
  return activation(x, Table::standard("softplus", bits, {beta, threshold}));
}

at::Tensor softsign(const at::Tensor& x, Bits bits) {
  return activation(x, Table::standard("softsign", bits));
}

at::Tensor tanh(const at::Tensor& x, Bits bits) {
  return activation(x, Table::standard("tanh", bits));
}

at::Tensor tanhshrink(const at::Tensor& x, Bits bits) {
  return activation(x, Table::standard("tanhshrink", bits));
}

// One bit is exact.

at::Tensor hardshrink(const at::Tensor& x, double lambda) {
  return activation(x, Table::standard("hardshrink", Bits{1}, {lambda}));
}

at::Tensor hardsigmoid(const at::Tensor& x) {
  return activation(x, Table::standard("hardsigmoid", Bits{1}));
}

at::Tensor hardtanh(const at::Tensor& x, double min, double max) {
  return activation(x, Table::standard("hardtanh", Bits{1}, {min, max}));
}

at::Tensor leaky_relu(const at::Tensor& x, double negative_slope) {
  return activation(x, Table::standard("leaky_relu", Bits{1}, {negative_slope}));
}

at::Tensor relu(const at::Tensor& x) {
  return activation(x, Table::standard("relu", Bits{1}));
}

at::Tensor relu6(const at::Tensor& x) {
  return activation(x, Table::standard("relu6", Bits{1}));
}

at::Tensor softshrink(const at::Tensor& x, double lambda) {
  return activation(x, Table::standard("softshrink", Bits{1}, {lambda}));
}

at::Tensor threshold(const at::Tensor& x, double threshold, double value) {
  return activation(x, Table::standard("threshold", Bits{1}, {threshold, value}));
}

}  // namespace fewbit
