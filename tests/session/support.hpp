#pragma once

#include <ATen/ATen.h>

namespace fewbit::test {

// A tensor of the middle of a network: it has a history, so that it is no parameter.
inline at::Tensor hidden(at::IntArrayRef shape, at::ScalarType dtype = at::kFloat) {
  const at::Tensor leaf = at::randn(shape, at::TensorOptions(dtype)).requires_grad_(true);
  return leaf.clone();
}

}  // namespace fewbit::test
