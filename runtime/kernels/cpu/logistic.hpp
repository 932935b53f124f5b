#pragma once

#include "kernels/cpu/values.hpp"

namespace fewbit::kernels {

/// f(x) = s(a x) or x s(a x) with s(z) = 1 / (1 + e^-z) and a > 0: sigmoid, silu, quick_gelu. One
/// power of two and one quotient give it, with the relative accuracy of tails.
struct Logistic {
  float rate = 0.0f;  ///< a / ln 2; 0: the function is not of this kind
  bool is_gate = false;
};

/// Recognises such a function by its values.
Logistic fit_logistic(ValueKernel<double>* value, const float* parameters);

}  // namespace fewbit::kernels
