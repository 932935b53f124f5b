#pragma once

#include <optional>

#include "kernels/activation/cpu/values.hpp"

namespace fewbit::kernels {

/// With s(z) = 1 / (1 + e^-z), a > 0:
enum class LogisticKind {
  sigmoid,     ///< s(a x)
  gate,        ///< x s(a x) (silu, quick_gelu)
  softplus,    ///< log(1 + e^x)
  logsigmoid,  ///< log s(x) = -softplus(-x)
};

/// A function that one power of two gives, and a quotient or a polynomial of it, with the relative
/// accuracy of tails.
struct Logistic {
  LogisticKind kind = LogisticKind::sigmoid;
  float rate = 0.0f;  ///< a / ln 2

  bool operator==(const Logistic&) const = default;
};

/// Recognises such a function by its values, and holds it against them everywhere.
std::optional<Logistic> fit_logistic(const DefaultFunction& function);

}  // namespace fewbit::kernels
