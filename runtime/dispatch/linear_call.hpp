#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "dispatch/interception.hpp"

namespace fewbit::session {

/// Torch's operations, without "aten::", that linear layers are made of: torch::nn calls addmm of
/// matrices, and matmul with the bias added elsewhere.
std::vector<std::string> linear_operations();

/// x weight^T + bias, as such an operation is called.
struct LinearCall {
  at::Tensor x;
  at::Tensor factor;           ///< the weight, or its transpose
  bool is_transposed = false;  ///< factor is [in, out]
  at::Tensor bias;             ///< undefined: none

  /// [out, in].
  at::Tensor weight() const { return is_transposed ? factor.t() : factor; }
};

/// Nothing for other operations and for products that no linear layer makes: of other dimensions,
/// with factors, with a bias that is a matrix.
std::optional<LinearCall> linear_call(std::string_view operation, Arguments arguments);

}  // namespace fewbit::session
