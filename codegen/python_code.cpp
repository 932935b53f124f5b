#include "codegen/python_code.hpp"

#include <map>

#include <fmt/format.h>

#include "codegen/formula.hpp"
#include "codegen/guards.hpp"
#include "codegen/literal.hpp"
#include "codegen/templates.hpp"
#include "codegen/write_code.hpp"

namespace fewbit::codegen {

namespace {

/// How tightly the outermost operator of a text binds.
enum Rank { kSum, kProduct, kPrefix, kPrimary };

struct Text {
  std::string code;
  Rank rank;
};

std::string number(double value) {
  const std::string text = double_literal(value);
  if (text == "NAN") return "float(\"nan\")";
  if (text == "INFINITY") return "float(\"inf\")";
  return text == "-INFINITY" ? "-float(\"inf\")" : text;
}

class Writer {
 public:
  Writer(const Formula& formula, const PythonDialect& dialect, std::set<std::string>& primitives)
      : f_(formula),
        dialect_(dialect),
        primitives_(primitives),
        uses_(static_cast<size_t>(formula.size()), 0) {}

  std::string body(int result) {
    count(result);
    std::string code = write_limits();
    for (int i = 0; i <= result; ++i) {
      if (!is_named(i)) continue;
      const std::string value = write_term(i).code;
      const std::string name = fmt::format("t{}", names_.size());
      names_[i] = name;
      code += fmt::format("    {} = {}\n", name, value);
    }
    const std::string value = write(result, kSum);
    return code + (guards_.nan ? fmt::format("    return {}\n", where("x == x", value, "x"))
                               : fmt::format("    return {}\n", value));
  }

  void set_guards(const Guards& guards) { guards_ = guards; }

 private:
  void count(int index) {
    if (index < 0 || uses_[static_cast<size_t>(index)]++ > 0) return;
    const Term term = f_[index];
    count(term.a);
    count(term.b);
    count(term.c);
  }

  bool is_named(int index) const {
    const Kind kind = f_[index].kind;
    const bool is_leaf = kind == Kind::constant || kind == Kind::variable;
    const bool is_condition = kind >= Kind::less && kind <= Kind::not_equal;
    return uses_[static_cast<size_t>(index)] > 1 && !is_leaf && !is_condition;
  }

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

  std::string write(int index, Rank rank) {
    const auto name = names_.find(index);
    if (name != names_.end()) return name->second;
    const Text text = write_term(index);
    return text.rank < rank ? fmt::format("({})", text.code) : text.code;
  }

  std::string binary(const Term& term, const char* sign, Rank left, Rank right) {
    const std::string first = write(term.a, left);
    return fmt::format("{} {} {}", first, sign, write(term.b, right));
  }

  /// A bound of x itself that is no float is another one for each type.
  std::string write_comparison(const Term& condition) {
    const char* sign = comparison_sign(condition.kind);
    if (!f_.bounds_variable(condition)) return binary(condition, sign, kSum, kSum);
    const double exact = f_[condition.b].value;
    const double single = float_bound(condition.kind, exact);
    if (single == exact || !dialect_.has_double)
      return fmt::format("x {} {}", sign, number(single));
    primitives_.insert("bound");
    return fmt::format("x {} _bound(x, {}, {})", sign, number(single), number(exact));
  }

  Text write_term(int index) {
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

  const Formula& f_;
  const PythonDialect& dialect_;
  std::set<std::string>& primitives_;
  Guards guards_;
  std::vector<int> uses_;
  std::map<int, std::string> names_;
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
