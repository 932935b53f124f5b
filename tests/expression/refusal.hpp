#pragma once

#include <string>

#include "base/error.hpp"
#include "expression/derivative.hpp"

namespace fewbit::solver {

/// What is said of f on [lo, hi], or "accepted".
inline std::string refusal(const std::string& text, double lo = -10, double hi = 10) {
  try {
    Derivative(Expression::parse(text), lo, hi);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace fewbit::solver
