#include "codegen/write_code.hpp"

#include <cmath>

#include <fmt/format.h>

#include "codegen/call_name.hpp"
#include "codegen/comparison.hpp"
#include "codegen/literal.hpp"
#include "codegen/term_writer.hpp"

namespace fewbit::codegen {

namespace {

class Writer : TermWriter {
 public:
  Writer(const Formula& formula, std::set<std::string>& primitives, Real real)
      : TermWriter(formula),
        primitives_(primitives),
        real_(real),
        is_choice_(size_t(formula.size()), false) {}

  std::string body(int result) {
    count(result);
    mark_choices(result);
    std::string code;
    for (int i = 0; i <= result; ++i) {
      if (!is_named(i)) continue;
      const std::string value = write_term(i).code;
      code +=
          fmt::format("  const {} {} = {};\n", is_wide() ? "double" : "float", name_next(i), value);
    }
    return code + fmt::format("  return {};\n", write(result, kConditional));
  }

 private:
  bool is_wide() const { return real_ == Real::double_precision; }
  bool is_for_device() const { return real_ == Real::brief || real_ == Real::warp; }

  void mark_choices(int result) {
    for (int i = 0; i <= result; ++i) {
      const Term term = f_[i];
      if (!is_used(i) || term.kind != Kind::select) continue;
      is_choice_[size_t(term.b)] = true;
      is_choice_[size_t(term.c)] = true;
    }
  }

  bool is_named(int index) const {
    // Computed before it is chosen, or a device would branch.
    const bool is_ahead =
        is_for_device() && is_choice_[size_t(index)] && f_[index].kind != Kind::select;
    return (is_used_again(index) || is_ahead) && !is_leaf_or_condition(index);
  }

  RankedText write_term(int index) override {
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
    if (is_comparison(term.kind)) {
      return {write_comparison(term), kComparison};
    }
    return {write_call(term), kPrimary};
  }

  /// Not a name, not negated by more than its sign: can become the product of an fma.
  bool is_inline_product(int index) const {
    return f_[index].kind == Kind::multiply && !has_name(index) &&
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
  RankedText write_sum(const Term& term) {
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
  RankedText write_product(const Term& term) {
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
  RankedText write_quotient(const Term& term) {
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
    if (is_wide() || !bounds_variable(f_, term)) return binary(term, sign, kSum, kSum);
    const auto bound = static_cast<float>(float_bound(term.kind, f_[term.b].value));
    return fmt::format("x {} {}", sign, decimal_literal(bound));
  }

  RankedText write_select(const Term& term) {
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
    const std::string name = call_name(term.kind);
    const bool is_circular = term.kind >= Kind::sin && term.kind <= Kind::atan;
    if (is_circular && is_wide()) return fmt::format("std::{}({})", name, argument);
    return fmt::format("{}({})", primitive(name, is_circular), argument);
  }

  std::set<std::string>& primitives_;
  Real real_;
  std::vector<bool> is_choice_;  ///< one of the two that a conditional chooses from
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

std::set<int> used_parameters(const Formula& formula, int result) {
  std::set<int> seen;
  std::set<int> parameters;
  gather(formula, result, seen, parameters);
  return parameters;
}

}  // namespace fewbit::codegen
