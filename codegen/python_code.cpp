#include "codegen/python_code.hpp"

#include <fmt/format.h>

#include "codegen/call_name.hpp"
#include "codegen/comparison.hpp"
#include "codegen/formula.hpp"
#include "codegen/guards.hpp"
#include "codegen/literal.hpp"
#include "codegen/templates.hpp"
#include "codegen/term_writer.hpp"

namespace fewbit::codegen {

namespace {

std::string number(double value) {
  const std::string text = double_literal(value);
  if (text == "NAN") return "float(\"nan\")";
  if (text == "INFINITY") return "float(\"inf\")";
  return text == "-INFINITY" ? "-float(\"inf\")" : text;
}

class Writer : TermWriter {
 public:
  Writer(const Formula& formula, const PythonDialect& dialect, std::set<std::string>& primitives)
      : TermWriter(formula), dialect_(dialect), primitives_(primitives) {}

  std::string body(int result) {
    count(result);
    std::string code = write_limits();
    for (int i = 0; i <= result; ++i) {
      if (!is_used_again(i) || is_leaf_or_condition(i)) continue;
      const std::string value = write_term(i).code;
      code += fmt::format("    {} = {}\n", name_next(i), value);
    }
    const std::string value = write(result, kSum);
    return code + (guards_.nan ? fmt::format("    return {}\n", where("x == x", value, "x"))
                               : fmt::format("    return {}\n", value));
  }

  void set_guards(const Guards& guards) { guards_ = guards; }

 private:
  /// The limits are reached long before; at infinity the formula would be NaN.
  std::string write_limits() const {
    std::string code;
    const auto limit = [&](const char* sign, float bound) {
      const std::string value = number(static_cast<double>(bound));
      code += fmt::format("    x = {}\n", where(fmt::format("x {} {}", sign, value), value, "x"));
    };
    if (guards_.low != 0.0f) limit("<", guards_.low);
    if (guards_.high != 0.0f) limit(">", guards_.high);
    return code;
  }

  std::string where(const std::string& condition, const std::string& first,
                    const std::string& second) const {
    return fmt::format("{}.where({}, {}, {})", dialect_.core, condition, first, second);
  }

  /// A bound of x itself that is no float is another one for each type.
  std::string write_comparison(const Term& condition) {
    const char* sign = comparison_sign(condition.kind);
    if (!bounds_variable(f_, condition)) return binary(condition, sign, kSum, kSum);
    const double exact = f_[condition.b].value;
    const double single = float_bound(condition.kind, exact);
    if (single == exact || !dialect_.has_double)
      return fmt::format("x {} {}", sign, number(single));
    primitives_.insert("bound");
    return fmt::format("x {} _bound(x, {}, {})", sign, number(single), number(exact));
  }

  RankedText write_term(int index) override {
    const Term term = f_[index];
    switch (term.kind) {
      case Kind::constant:
        return {number(term.value), term.value < 0.0 ? kPrefix : kPrimary};
      case Kind::variable:
        return {"x", kPrimary};
      case Kind::negate:
        return {fmt::format("-{}", write(term.a, kPrimary)), kPrefix};
      case Kind::add:
        return {binary(term, "+", kSum, kProduct), kSum};
      case Kind::subtract:
        return {binary(term, "-", kSum, kProduct), kSum};
      case Kind::multiply:
        return {binary(term, "*", kProduct, kPrefix), kProduct};
      case Kind::divide:
        return {binary(term, "/", kProduct, kPrefix), kProduct};
      case Kind::select:
        return {write_select(term), kPrimary};
      default:
        return {write_call(term), kPrimary};
    }
  }

  std::string write_select(const Term& term) {
    const Term condition = f_[term.a];
    const std::string test = write_comparison(condition);
    std::string first = write(term.b, kSum);
    // Of two plain numbers the result would not have the type of x.
    if (f_.is_constant(term.b) && f_.is_constant(term.c)) {
      first = fmt::format(fmt::runtime(dialect_.full_value), first);
    }
    return where(test, first, write(term.c, kSum));
  }

  std::string write_call(const Term& term) {
    const std::string argument = write(term.a, kSum);
    if (term.kind == Kind::power) {
      return fmt::format("{}.pow({}, {})", dialect_.library, argument, write(term.b, kSum));
    }
    if (term.kind == Kind::abs) return fmt::format("{}.abs({})", dialect_.core, argument);
    const std::string name = call_name(term.kind);
    if (!has_python_section(name))
      return fmt::format("{}.{}({})", dialect_.library, name, argument);
    primitives_.insert(name);
    return fmt::format("_{}({})", name, argument);
  }

  const PythonDialect& dialect_;
  std::set<std::string>& primitives_;
  Guards guards_;
};

}  // namespace

PythonDialect torch_dialect() {
  return {"", "torch", "torch", "torch.full_like(x, {})", true};
}

PythonDialect triton_dialect() {
  return {"@triton.jit\n", "tl", "libdevice", "tl.full(x.shape, {}, tl.float32)", false};
}

std::string write_python(const solver::Expression& expression, bool derivative,
                         const std::string& name, const PythonDialect& dialect,
                         std::set<std::string>& primitives) {
  Formula formula(expression.parameters());
  const int value = translate(expression, formula, true);
  const int result = derivative ? differentiate(formula, value) : value;
  Writer writer(formula, dialect, primitives);
  writer.set_guards(find_guards(formula, result));
  return fmt::format("{}def {}(x):\n    \"\"\"{}\"\"\"\n{}\n\n", dialect.decorator, name,
                     derivative ? "f'(x)" : "f(x) = " + expression.text(), writer.body(result));
}

}  // namespace fewbit::codegen
