#pragma once

#include <string>
#include <vector>

#include "examples/support/training.hpp"

namespace fewbit::examples {

/// A model with fresh parameters and its batches: what is trained and measured.
struct Subject {
  std::vector<at::Tensor> parameters;
  BatchLoss loss;
  Recipe recipe;  ///< how it is trained as a rule
};

/// "mlp" (digits) or "transformer" (licences; gated where the function is silu). The seed fixes
/// parameters and batches. May be called from several threads.
Subject make_subject(const std::string& model, const std::string& function, uint64_t seed);

}  // namespace fewbit::examples
