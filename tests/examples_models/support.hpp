#pragma once

#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace fewbit::test {

/// Calls backward on a finite loss; every parameter has to get a finite gradient, matrices and
/// convolutions one that is not zero. Others may: a bias before a batch norm, or of attention's
/// keys.
inline void expect_gradients(const at::Tensor& loss, const std::vector<std::string>& names,
                             const std::vector<at::Tensor>& parameters) {
  ASSERT_EQ(loss.dim(), 0);
  ASSERT_TRUE(loss.isfinite().item<bool>());
  ASSERT_FALSE(parameters.empty());
  ASSERT_EQ(names.size(), parameters.size());
  loss.backward();
  for (size_t i = 0; i < names.size(); ++i) {
    const at::Tensor& gradient = parameters[i].grad();
    ASSERT_TRUE(gradient.defined()) << names[i];
    EXPECT_TRUE(gradient.isfinite().all().item<bool>()) << names[i];
    EXPECT_TRUE(gradient.dim() < 2 || gradient.any().item<bool>()) << names[i];
  }
}

}  // namespace fewbit::test
