#pragma once

#include <set>
#include <string>

#include "expression/expression.hpp"

namespace fewbit::codegen {

/// What a Python module computes with.
struct PythonDialect {
  std::string decorator;   ///< before each function
  std::string core;        ///< has abs and where
  std::string library;     ///< has sqrt, exp and the other functions of one argument, and pow
  std::string full_value;  ///< a format: the constant {} in the shape and type of x
  bool has_double;         ///< x is float64 at times, else float32
};

PythonDialect torch_dialect();
PythonDialect triton_dialect();

/// A function `name` of x, in the type of x, that returns f(x) or, of the derivative, f'(x): NaN
/// gives NaN, infinities give the limit. Functions of the template math.py.in that it calls are
/// added to `primitives`.
std::string write_python(const solver::Expression& expression, bool derivative,
                         const std::string& name, const PythonDialect& dialect,
                         std::set<std::string>& primitives);

}  // namespace fewbit::codegen
