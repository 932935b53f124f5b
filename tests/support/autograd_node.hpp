#pragma once

#include <string>

#include <ATen/ATen.h>
#include <torch/csrc/autograd/function.h>

namespace fewbit::test {

// A tensor of the middle of a network: it has a history, so that it is no parameter.
inline at::Tensor hidden(at::IntArrayRef shape, at::ScalarType dtype = at::kFloat) {
  const at::Tensor leaf = at::randn(shape, at::TensorOptions(dtype)).requires_grad_(true);
  return leaf.clone();
}

inline std::string node_of(const at::Tensor& y) {
  return y.grad_fn() ? y.grad_fn()->name() : "none";
}

inline bool is_few_bit(const at::Tensor& y) {
  return node_of(y).find("FewBitActivation") != std::string::npos;
}

}  // namespace fewbit::test
