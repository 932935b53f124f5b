#pragma once

#include <functional>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "fewbit/checkpoint.hpp"

// Functions that run inside of a checkpoint and outside, and what backward makes of both.
namespace fewbit::test {

using Tensors = std::vector<at::Tensor>;
using Function = std::function<at::Tensor(const at::Tensor&)>;

inline Function checkpointed(const Function& function) {
  return [function](const at::Tensor& x) { return checkpoint(function, x); };
}

/// The function's value, and the gradients of x, which gets there by an operation, and of
/// parameters.
inline Tensors value_and_gradients(const Function& function, const at::Tensor& x,
                                   const Tensors& parameters) {
  const at::Tensor leaf = x.detach().clone().requires_grad_();
  const at::Tensor y = function(leaf * 1.0);
  Tensors asked = {leaf};
  asked.insert(asked.end(), parameters.begin(), parameters.end());
  Tensors result = {y.detach()};
  const auto gradients = torch::autograd::grad({y.to(at::kFloat).pow(2).sum()}, asked);
  result.insert(result.end(), gradients.begin(), gradients.end());
  return result;
}

inline void expect_equal(const Tensors& found, const Tensors& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(at::equal(found[i], expected[i])) << i;
}

/// Bit for bit.
inline void expect_same_gradients(const Function& function, const at::Tensor& x,
                                  const Tensors& parameters) {
  at::manual_seed(11);
  const Tensors expected = value_and_gradients(function, x, parameters);
  at::manual_seed(11);
  expect_equal(value_and_gradients(checkpointed(function), x, parameters), expected);
}

template <class Run>
std::string error_of(const Run& run) {
  try {
    run();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "none";
}

}  // namespace fewbit::test
