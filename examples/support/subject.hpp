#pragma once

#include <string>
#include <vector>

#include "examples/support/training.hpp"

namespace fewbit::examples {

/// A model with fresh parameters and its batches: what is trained and measured.
struct Subject {
  std::vector<at::Tensor> parameters;
  std::vector<std::string> names;  ///< of the parameters
  BatchLoss loss;
  Recipe recipe;  ///< how it is trained as a rule
  /// In evaluation, in per cent: of pictures that are held out, of bytes that follow pieces of the
  /// text which are drawn apart. The encoder has none.
  std::function<double(const Activate&)> accuracy = nullptr;
};

/// "mlp", "cnn" or "normed cnn" (digits), "transformer" (licences; gated where the function is
/// silu) or "encoder" (torch's own with its own GELU on noise, towards 0; it takes no activation).
/// The seed fixes parameters and batches; these are `times` as large as in training. May be called
/// from several threads.
Subject make_subject(const std::string& model, const std::string& function, uint64_t seed,
                     int64_t times = 1);

}  // namespace fewbit::examples
