#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fewbit::solver {

/// What a node of an expression does. Comparisons and the functions from `abs` to `where` switch
/// between branches; all others are smooth where they are finite.
enum class Op {
  constant,
  variable,
  parameter,
  negate,
  add,
  subtract,
  multiply,
  divide,
  power,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  abs,
  sign,
  min,
  max,
  clamp,
  where,
  sqrt,
  exp,
  expm1,
  log,
  log1p,
  tanh,
  sigmoid,
  softplus,
  erf,
  normcdf,
  sin,
  cos,
  atan,
};

/// One step of the tape: operands are indices of earlier nodes (-1: none).
struct Node {
  Op op;
  int a = -1;
  int b = -1;
  int c = -1;
  double value = 0.0;  ///< of a constant
  int parameter = -1;  ///< index into Expression::parameters()
};

struct Definition;
using Library = std::vector<Definition>;

/// f(x) as a tape: nodes in evaluation order, the last one is the result, common subexpressions
/// shared. A value type.
class Expression {
 public:
  using Parameter = std::pair<std::string, double>;

  /// Parses `text` in terms of x and `parameters`. Throws Error whose message shows the text with a
  /// caret under the column that is wrong. `^` binds tighter than unary minus and to the right.
  static Expression parse(std::string_view text, std::vector<Parameter> parameters = {});

  /// The same with functions of `library` (library.hpp): their bodies take the places of the calls,
  /// so that the tape, and text(), know nothing of it.
  static Expression parse(std::string_view text, std::vector<Parameter> parameters,
                          const Library& library);

  explicit Expression(std::vector<Node> nodes, std::vector<Parameter> parameters = {});

  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }

  /// Infix text that parses back to the same tape; parameters by name.
  std::string text() const;

  /// f(x) for any scalar that has arithmetic and the functions of the language (evaluate.hpp).
  template <class Scalar>
  Scalar evaluate(const Scalar& x) const;

 private:
  std::vector<Node> nodes_;
  std::vector<Parameter> parameters_;
};

}  // namespace fewbit::solver
