#pragma once

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "expression/expression.hpp"

namespace fewbit::codegen {

/// What a term is. The functions beyond the expression language are those that derivatives and
/// accurate float code need; codegen/templates/math.hpp has one primitive for each.
enum class Kind {
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
  select,
  abs,
  sqrt,
  exp,
  expm1,
  log,
  log1p,
  tanh,
  tanh_squared,
  tanhshrink,
  sech2,
  sigmoid,
  sigmoid_slope,
  softplus,
  tanh_softplus,
  tanh_softplus_slope,
  mish_slope,
  softsign_slope,
  erf,
  normcdf,
  normpdf,
  sin,
  cos,
  atan,
  gelu,
};

/// Operands are indices of earlier terms (-1: none).
struct Term {
  Kind kind;
  int a = -1;
  int b = -1;
  int c = -1;
  double value = 0.0;   ///< of a constant
  int parameter = -1;   ///< index into Formula::parameters()
  bool varies = false;  ///< depends on x
  auto key() const { return std::tie(kind, a, b, c, value, parameter); }
};

/// A growing set of terms: equal terms share one index, and every function that makes a term first
/// simplifies (constants folded, factors collected and cancelled, forms that lose digits replaced
/// by ones that do not). Comparisons appear as first operand of `select` only.
class Formula {
 public:
  using Parameter = std::pair<std::string, double>;

  explicit Formula(std::vector<Parameter> parameters) : parameters_(std::move(parameters)) {}

  /// A copy: making a term moves the others.
  Term operator[](int index) const { return terms_[static_cast<size_t>(index)]; }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  int size() const { return static_cast<int>(terms_.size()); }

  int constant(double value);
  int variable() { return intern({Kind::variable}); }
  int parameter(int index);

  int negate(int a) { return multiply(constant(-1.0), a); }
  int add(int a, int b);
  int subtract(int a, int b);
  int multiply(int a, int b);
  int divide(int a, int b);
  int power(int a, int b);
  /// Comparisons that are linear in x become comparisons of x itself with a double; see
  /// float_bound().
  int compare(Kind kind, int a, int b);
  int select(int condition, int a, int b);
  /// a where `number` differs from 0, else b.
  int select_nonzero(int number, int a, int b);
  /// A function of one argument.
  int call(Kind kind, int a);

  bool is_constant(int index) const { return (*this)[index].kind == Kind::constant; }
  bool is_constant(int index, double value) const;
  bool is_call(int index, Kind kind) const { return (*this)[index].kind == kind; }
  bool depends_on_variable(int index) const { return index >= 0 && (*this)[index].varies; }

 private:
  struct Product;

  struct Line;

  int intern(Term term);
  bool find_line(int index, Line& line) const;
  int compare_variable(Kind kind, double bound);
  int factor_out(int a, int b, double sign);
  void collect(Product& product, int index, int exponent);
  void collect_factor(Product& product, int index, int exponent);
  int build(Product product);
  int build_pushed(Product& product);
  int distribute(const Product& product);
  int scale(int top, double coefficient);
  int build_side(const Product& product, int sign);
  int raise(int base, int exponent);
  int add_like_terms(int a, int b, double sign);
  int add_to_constant(int a, int b);
  int add_same_condition(int a, int b, Kind kind);
  int twice_square(int a);
  int complement(int a);
  int complement_negated(int a);

  std::vector<Parameter> parameters_;
  std::vector<Term> terms_;
  std::map<std::tuple<Kind, int, int, int, double, int>, int> known_;
};

/// The same function as a formula; the result is the index of f(x). With `fold_parameters` their
/// values take the place of their names.
int translate(const solver::Expression& expression, Formula& formula, bool fold_parameters);

/// The index of d/dx of term `index`. At a kink it is the derivative on the left, where the
/// condition's slope is known (tables are closed on the right).
int differentiate(Formula& formula, int index);

/// +1 or -1 where the term has that sign for all x (parameters at their values), else 0.
int sign_of(const Formula& formula, int index);

/// The value of a term computed as the generated code does: in float, by the same primitives.
float evaluate(const Formula& formula, int index, float x);

/// The double value of a function of one argument; folds constants.
double call_value(Kind kind, double a);

}  // namespace fewbit::codegen
