#pragma once

#include <ATen/core/Tensor.h>

#include "session/running_operations.hpp"

namespace fewbit::session {

/// What an error of a saved tensor does to gradients.
struct Harm {
  /// Of a squared error, relative to the tensor's energy, beside one of a tensor that the gradient
  /// is linear in; 0: it is left alone.
  double weight = 0.0;
  bool is_logarithm = false;  ///< the error counts as it is, not relative
};

/// Of what an operation saves. Operations that the list does not name, custom functions and our own
/// among them, are left alone.
Harm harm_of(const Saving& saving);

/// Whether it comes from a parameter by views and changes of type alone.
bool is_of_parameter(const at::Tensor& tensor);

}  // namespace fewbit::session
