#pragma once

#include <functional>
#include <string>
#include <vector>

#include "expression/expression.hpp"

namespace fewbit::solver {

/// A function that has no operation of its own: where it is called its body takes its place.
struct Definition {
  std::string name;
  std::vector<std::string> arguments;  ///< their names in the body; any expressions
  /// Behind the arguments, by place or as NAME=VALUE, or left out: constants with their defaults.
  std::vector<Expression::Parameter> parameters;
  std::string body;  ///< in terms of arguments and parameters; calls no Definition of a Library
  /// Throws Error for parameters that are not accepted; may be empty.
  std::function<void(const std::vector<Expression::Parameter>&)> check = {};
};

/// The functions of the language itself that are made of others.
const Library& compositions();

}  // namespace fewbit::solver
