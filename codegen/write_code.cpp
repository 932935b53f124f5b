#include "codegen/write_code.hpp"

#include <cmath>

#include <fmt/format.h>

#include "codegen/literal.hpp"

namespace fewbit::codegen {

namespace {

/// How tightly the outermost operator of a text binds.
enum Rank { kConditional, kComparison, kSum, kProduct, kPrefix, kPrimary };

struct Text {
  std::string code;
  Rank rank;
};

const char* function_name(Kind kind) {
  switch (kind) {
    case Kind::exp:
      return "exp";
    case Kind::expm1:
      return "expm1";
    case Kind::log:
      return "log";
    case Kind::log1p:
      return "log1p";
    case Kind::tanh:
      return "tanh";
    case Kind::sech2:
      return "sech2";
    case Kind::sigmoid:
      return "sigmoid";
    case Kind::sigmoid_slope:
      return "sigmoid_slope";
    case Kind::softplus:
      return "softplus";
    case Kind::tanh_softplus:
      return "tanh_softplus";
    case Kind::tanh_softplus_slope:
      return "tanh_softplus_slope";
    case Kind::mish_slope:
      return "mish_slope";
    case Kind::tanh_squared:
      return "tanh_squared";
    case Kind::tanhshrink:
      return "tanhshrink";
    case Kind::softsign_slope:
      return "softsign_slope";
    case Kind::erf:
      return "erf";
    case Kind::normcdf:
      return "normcdf";
    case Kind::sin:
      return "sin";
    case Kind::cos:
      return "cos";
    case Kind::atan:
      return "atan";
    case Kind::gelu:
      return "gelu";
    default:
      return "normpdf";
  }
}

class Writer {
 public:
  Writer(const Formula& formula, std::set<std::string>& primitives, Real real)
      : f_(formula),
        primitives_(primitives),
        real_(real),
        uses_(size_t(formula.size()), 0),
        is_choice_(size_t(formula.size()), false) {}

  std::string body(int result) {
    count(result);
    std::string code;
    for (int i = 0; i <= result; ++i) {
      if (!is_named(i)) continue;
      const std::string value = write_term(i).code;
      const std::string name = fmt::format("t{}", names_.size());
      names_[i] = name;
      code += fmt::format("  const {} {} = {};\n", is_wide() ? "double" : "float", name, value);
    }
    return code + fmt::format("  return {};\n", write(result, kConditional));
  }

 private:
  bool is_wide() const { return real_ == Real::double_precision; }
  bool is_for_device() const { return real_ == Real::brief || real_ == Real::warp; }

  void count(int index) {
    if (index < 0 || uses_[size_t(index)]++ > 0) return;
    const Term& term = f_[index];
    if (term.kind == Kind::select) {
      is_choice_[size_t(term.b)] = true;
      is_choice_[size_t(term.c)] = true;
    }
    count(term.a);
    count(term.b);
    count(term.c);
  }

  bool is_named(int index) const {
    const Kind kind = f_[index].kind;
    const bool is_leaf =
        kind == Kind::constant || kind == Kind::variable || kind == Kind::parameter;
    const bool is_condition = kind >= Kind::less && kind <= Kind::not_equal;
    // Computed before it is chosen, or a device would branch.
    const bool is_ahead = is_for_device() && is_choice_[size_t(index)] && kind != Kind::select;
    return (uses_[size_t(index)] > 1 || is_ahead) && !is_leaf && !is_condition;
  }

  /// The term as an operand of an operator that needs at least `rank`.
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

  Text write_term(int index) {
    const Term& term = f_[index];
    switch (term.kind) {
      case Kind::constant:
        return {is_wide() ? double_literal(term.value)
                          : decimal_literal(static_cast<float>(term.value)),
                term.value < 0.0 ? kPrefix : kPrimary};
      case Kind::variable:
        return {"x", kPrimary};
      case Kind::parameter:
        return {f_.parameters()[size_t(term.parameter)].first, kPrimary};
      case Kind::negate:
        return {fmt::format("-{}", write(term.a, kPrimary)), kPrefix};
      case Kind::add:
      case Kind::subtract:
        return write_sum(term);
      case Kind::multiply:
        return write_product(term);
      case Kind::divide:
        return write_quotient(term);
      case Kind::select:
        return write_select(term);
      default:
        break;
    }
    if (term.kind >= Kind::less && term.kind <= Kind::not_equal) {
      return {write_comparison(term), kComparison};
    }
    return {write_call(term), kPrimary};
  }

  /// Not a name, not negated by more than its sign: can become the product of an fma.
  bool is_inline_product(int index) const {
    return f_[index].kind == Kind::multiply && !names_.contains(index) &&
           !f_.is_constant(f_[index].a, 2.0);
  }

  /// The primitive's full name. One is enough for a wave or an arc tangent on hosts and devices:
  /// what these approximate is off by as much at zeros, where it is not small.
  std::string primitive(const std::string& name, bool is_for_all = false) {
    if (real_ == Real::single_precision || is_for_all) {
      primitives_.insert(name);
      return "math::" + name;
    }
    const std::string space = is_wide() ? "wide" : real_ == Real::brief ? "brief" : "warp";
    primitives_.insert(space);
    return "math::" + space + "::" + name;
  }

  std::string fused(const Term& product, const char* sign, const std::string& addend) {
    const std::string first = write(product.a, *sign == '-' ? kPrimary : kConditional);
    const std::string second = write(product.b, kConditional);
    return fmt::format("{}({}{}, {}, {})", primitive("fma"), sign, first, second, addend);
  }

  /// What a constant loses as a float, where that is more than an eighth of its last place.
  double rounding_rest(int index) const {
    if (is_wide() || real_ == Real::brief || !f_.is_constant(index)) return 0.0;
    const double value = f_[index].value;
    const double rest = value - static_cast<double>(static_cast<float>(value));
    return std::abs(rest) > 0x1p-27 * std::abs(value) ? rest : 0.0;
  }

  /// a * b + c is rounded once. A constant c that is no float comes in two parts.
  Text write_sum(const Term& term) {
    const bool is_add = term.kind == Kind::add;
    if (is_inline_product(term.b)) {
      const double rest = rounding_rest(term.a);
      if (rest != 0.0) {
        const std::string low = decimal_literal(static_cast<float>(rest));
        const std::string product = fused(f_[term.b], is_add ? "" : "-", low);
        return {fmt::format("{} + {}", write(term.a, kSum), product), kSum};
      }
      const std::string addend = write(term.a, kConditional);
      return {fused(f_[term.b], is_add ? "" : "-", addend), kPrimary};
    }
    if (is_inline_product(term.a)) {
      const std::string addend =
          is_add ? write(term.b, kConditional) : fmt::format("-{}", write(term.b, kPrimary));
      return {fused(f_[term.a], "", addend), kPrimary};
    }
    return {binary(term, is_add ? "+" : "-", kSum, kProduct), kSum};
  }

  /// A function's value already is some ulp off: a constant before it that is no float comes in two
  /// parts.
  Text write_product(const Term& term) {
    if (rounding_rest(term.a) == 0.0 || f_[term.b].kind < Kind::sqrt) {
      return {binary(term, "*", kProduct, kPrefix), kProduct};
    }
    const double value = f_[term.a].value;
    float high = static_cast<float>(value);
    if (std::abs(static_cast<double>(high)) > std::abs(value)) high = std::nextafter(high, 0.0f);
    const auto low = static_cast<float>(value - static_cast<double>(high));
    return {fmt::format("{}({}, {}, {})", primitive("product"), decimal_literal(high),
                        decimal_literal(low), write(term.b, kConditional)),
            kPrimary};
  }

  /// For a device by the reciprocal, which is a constant of the kernel unless it depends on x.
  Text write_quotient(const Term& term) {
    if (!is_for_device()) return {binary(term, "/", kProduct, kPrefix), kProduct};
    const bool varies = f_.depends_on_variable(term.b);
    if (varies || real_ == Real::warp) {
      const std::string name = primitive(varies ? "quotient" : "quotient_by_normal");
      const std::string top = write(term.a, kConditional);
      return {fmt::format("{}({}, {})", name, top, write(term.b, kConditional)), kPrimary};
    }
    const std::string top = write(term.a, kProduct);
    if (f_.is_constant(term.b)) {
      const auto factor = static_cast<float>(1.0 / f_[term.b].value);
      return {fmt::format("{} * {}", top, decimal_literal(factor)), kProduct};
    }
    return {fmt::format("{} * {}({})", top, primitive("reciprocal"), write(term.b, kConditional)),
            kProduct};
  }

  std::string write_comparison(const Term& term) {
    const char* sign = comparison_sign(term.kind);
    if (is_wide() || !f_.bounds_variable(term)) return binary(term, sign, kSum, kSum);
    const auto bound = static_cast<float>(float_bound(term.kind, f_[term.b].value));
    return fmt::format("x {} {}", sign, decimal_literal(bound));
  }

  Text write_select(const Term& term) {
    const std::string condition = write(term.a, kComparison);
    const std::string first = write(term.b, kSum);
    return {fmt::format("{} ? {} : {}", condition, first, write(term.c, kConditional)),
            kConditional};
  }

  std::string write_call(const Term& term) {
    const std::string argument = write(term.a, kConditional);
    if (term.kind == Kind::power) {
      return fmt::format("std::pow({}, {})", argument, write(term.b, kConditional));
    }
    if (term.kind == Kind::abs) return fmt::format("std::fabs({})", argument);
    if (term.kind == Kind::sqrt) return fmt::format("std::sqrt({})", argument);
    const std::string name = function_name(term.kind);
    const bool is_circular = term.kind >= Kind::sin && term.kind <= Kind::atan;
    if (is_circular && is_wide()) return fmt::format("std::{}({})", name, argument);
    return fmt::format("{}({})", primitive(name, is_circular), argument);
  }

  const Formula& f_;
  std::set<std::string>& primitives_;
  Real real_;
  std::vector<int> uses_;
  std::vector<bool> is_choice_;  ///< one of the two that a conditional chooses from
  std::map<int, std::string> names_;
};

void gather(const Formula& formula, int index, std::set<int>& seen, std::set<int>& parameters) {
  if (index < 0 || !seen.insert(index).second) return;
  const Term& term = formula[index];
  if (term.kind == Kind::parameter) parameters.insert(term.parameter);
  gather(formula, term.a, seen, parameters);
  gather(formula, term.b, seen, parameters);
  gather(formula, term.c, seen, parameters);
}

}  // namespace

std::string write_body(const Formula& formula, int result, std::set<std::string>& primitives,
                       Real real) {
  return Writer(formula, primitives, real).body(result);
}

std::string call_name(Kind kind) {
  return kind == Kind::sqrt ? "sqrt" : function_name(kind);
}

const char* comparison_sign(Kind kind) {
  switch (kind) {
    case Kind::less:
      return "<";
    case Kind::less_equal:
      return "<=";
    case Kind::greater:
      return ">";
    case Kind::greater_equal:
      return ">=";
    case Kind::equal:
      return "==";
    default:
      return "!=";
  }
}

std::set<int> used_parameters(const Formula& formula, int result) {
  std::set<int> seen;
  std::set<int> parameters;
  gather(formula, result, seen, parameters);
  return parameters;
}

}  // namespace fewbit::codegen
