#include "codegen/function_code.hpp"

#include <fmt/format.h>

#include "codegen/guards.hpp"
#include "codegen/literal.hpp"
#include "codegen/write_code.hpp"

namespace fewbit::codegen {

namespace {

std::string write_guards(const Guards& guards) {
  std::string code;
  if (guards.nan) code += "  if (x != x) return x;\n";
  if (guards.low != 0.0f || guards.high != 0.0f) {
    code += "  // The limit is reached long before; at infinity the formula would be NaN.\n";
  }
  const auto clamp = [&code](const char* sign, float bound) {
    code += fmt::format("  x = x {0} {1} ? {1} : x;\n", sign, hex_literal(bound));
  };
  if (guards.low != 0.0f) clamp("<", guards.low);
  if (guards.high != 0.0f) clamp(">", guards.high);
  return code;
}

std::string write_one(const Formula& formula, int result, const std::string& name,
                      Parameters parameters, std::set<std::string>& primitives,
                      Real real = Real::single_precision) {
  const std::string type = real == Real::double_precision ? "double" : "float";
  const std::string guards = write_guards(find_guards(formula, result));
  const bool needs_x = !guards.empty() || formula.depends_on_variable(result);
  std::string signature = type + (needs_x ? " x" : " /*x*/");
  if (parameters == Parameters::arguments) {
    const std::set<int> used = used_parameters(formula, result);
    for (size_t i = 0; i < formula.parameters().size(); ++i) {
      const std::string& argument = formula.parameters()[i].first;
      const bool is_used = used.contains(static_cast<int>(i));
      signature += ", " + type + (is_used ? " " + argument : " /*" + argument + "*/");
    }
  }
  return "FEWBIT_HD inline " + type + " " + name + "(" + signature + ") {\n" + guards +
         write_body(formula, result, primitives, real) + "}\n";
}

/// x normcdf(x) costs less than its two factors one after the other.
int fuse(Formula& formula, int value) {
  const Term term = formula[value];
  const bool is_gelu = term.kind == Kind::multiply && formula.is_call(term.b, Kind::normcdf) &&
                       formula[term.b].a == term.a;
  return is_gelu ? formula.call(Kind::gelu, term.a) : value;
}

}  // namespace

FunctionCode write_function(const solver::Expression& expression, Parameters parameters) {
  Formula formula(expression.parameters());
  const int value = translate(expression, formula, parameters == Parameters::folded);
  const int slope = differentiate(formula, value);
  FunctionCode code;
  code.text = "/// f(x) = " + expression.text() + "\n";
  code.text += write_one(formula, value, "activation", parameters, code.primitives);
  code.text += "\n/// f'(x)\n";
  code.text += write_one(formula, slope, "derivative", parameters, code.primitives);
  std::set<std::string> others;
  code.wide_text =
      "\n/// f(x) for double\n" +
      write_one(formula, value, "wide_activation", parameters, others, Real::double_precision);
  const int fused = fuse(formula, value);
  code.brief_text = "\n/// f(x) for results in 16 bits\n" +
                    write_one(formula, fused, "brief_activation", parameters, others, Real::brief);
  code.warp_text = "\n/// f(x) on a device\n" +
                   write_one(formula, fused, "warp_activation", parameters, others, Real::warp);
  return code;
}

}  // namespace fewbit::codegen
