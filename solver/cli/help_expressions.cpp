#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/help_page.hpp"
#include "expression/language.hpp"
#include "functions/registry.hpp"

namespace fewbit::solver {

namespace {

constexpr const char* kSummary =
    R"(f(x) in one line of mathematics, as `--expr` takes it and as tables keep it:
`fewbit-solve --expr 'x*sigmoid(1.702*x)' --name my_act --bits 3`.)";

constexpr const char* kGrammar = R"text(```
comparison  sum [("<" | "<=" | ">" | ">=" | "==" | "!=") sum]
sum         product {("+" | "-") product}
product     unary {("*" | "/") unary}
unary       {"-" | "+"} power
power       primary ["^" unary]
primary     number | name | function "(" value {"," value} ")" | "(" comparison ")"
value       comparison | parameter "=" comparison
```)text";

constexpr const char* kPrecedence =
    R"(What is below binds tighter. So `-x^2` is `-(x^2)`, `2^-x` and `2*-x` are read, `2^3^2` is `2^(3^2)`,
`8/x/2` is `(8/x)/2`. A comparison is 1 or 0 and has two sides: `x < 1 < 2` is refused. Spaces and
new lines mean nothing. Between factors the operator is written: `2*x`, not `2x`.)";

constexpr const char* kNames =
    R"(`x` is the input. `pi` and `e` are the constants, unless the function has a parameter of that name,
which then is meant. Numbers are decimal: `1`, `.5`, `1e-3`. There is no infinity.)";

constexpr const char* kPowers =
    R"(`u^v` with a `v` that has no x in it is the power. With x in it it is `exp(v*log(u))`, for `u > 0` only;
`e^v` is `exp(v)`.)";

constexpr const char* kFunctions =
    R"(`u` and `v` are any expressions; the domain is where the function and its derivative are finite.)";

constexpr const char* kRegistry =
    R"(The functions of `fewbit-solve list` by their names, `gelu(2*x)`. Parameters come behind the first value,
by place or by name, `elu(x, 0.5)` or `elu(x, alpha=0.5)`; left out they have the values shown here. They are
constants in the ranges shown. The body takes the place of the call, in the table's file too.
`softplus(x)` without parameters is the one above, which has no threshold.)";

constexpr const char* kKinks =
    R"(At a kink f' is the derivative just left of it, since a table's intervals end with their right border. f may
jump where a condition changes, as `where(x > 1, x, 0)` does: f' is that of the branches, the jump
does not count.)";

constexpr const char* kQuotients =
    R"(`where(x == 0, 1, expm1(x)/x)` is smooth: where numerator and denominator both compute to 0 and their quotient
has a limit, f' and f'' are found by Taylor polynomials around that point. The limit must be written, as here or by a
branch of some width, `where(abs(x) < 1e-3, 1 + x/2, expm1(x)/x)`. Generated code computes what is written, in
float: `x^2` is 0 from 1e-23 down. A difference of poles as `1/expm1(x) - 1/x` is no such quotient; `x^-1*sin(x)` is
one when written `sin(x)/x`.)";

constexpr const char* kRefused =
    R"(On the domain (`--domain`, or what the weight needs) f, f' and f'' have to be finite, and f smooth but for
kinks that a condition shows. A text has at most 65536 characters, also with the bodies of the functions that it
calls, and 200 levels of brackets.)";

std::string code(const std::string& text) {
  return "`" + text + "`";
}

Grid functions() {
  Grid grid{{{"function"}, {"is"}, {"domain"}, {"derivative"}, {"example"}}, {}};
  for (const FunctionText& f : function_texts()) {
    grid.rows.push_back({{code(f.call)}, {f.meaning}, {f.domain}, {f.slope}, {code(f.example)}});
  }
  return grid;
}

std::string named_range(const ParameterInfo& p) {
  return fmt::format("{} in {}{}, {}]", p.name, p.lo_open ? "(" : "[", shortest(p.lo),
                     shortest(p.hi));
}

Grid registered() {
  Grid grid{{{"function"}, {"f(x)"}, {"parameters"}}, {}};
  for (const FunctionInfo& info : registry()) {
    std::string arguments = "x";
    std::string ranges;
    for (const ParameterInfo& p : info.parameters) {
      arguments += ", " + p.name + "=" + shortest(p.initial);
      ranges += (ranges.empty() ? "" : ", ") + named_range(p);
    }
    std::string call = code(info.name + "(" + arguments + ")");
    for (const std::string& alias : info.aliases) call += ", also " + code(alias);
    grid.rows.push_back({{call}, {code(info.expression)}, {ranges}});
  }
  return grid;
}

Grid refused() {
  Grid grid{{{"expression"}, {"why"}, {"instead"}}, {}};
  const auto add = [&](const char* text, const char* why, const char* instead) {
    grid.rows.push_back({{code(text)}, {why}, {instead}});
  };
  add("log(x)", "not finite at 0, and not a number below", "`--domain`, `log(1 + abs(x))`");
  add("sqrt(abs(x))", "its derivative is infinite at 0", "`sqrt(abs(x) + 1)`");
  add("max(x, 0)^1.5", "its second derivative is infinite at 0", "`max(x, 0)^2`");
  add("1/x", "not finite at 0", "`x/(1 + x^2)`");
  add("expm1(x)/x", "not finite at 0", "`where(x == 0, 1, expm1(x)/x)`");
  add("where(x == 0, 5, expm1(x)/x)", "its limit at 0 is 1", "`where(x == 0, 1, expm1(x)/x)`");
  add("sqrt(x^2)", "a kink that no condition shows", "`abs(x)`");
  add("where(x > 0, x, y)", "an unknown name", "a number, or `--fn` for parameters");
  add("elu(x, alpha=x)", "a parameter that depends on x", "the formula itself");
  add("x + 1e999", "no number of double precision", "");
  add("2x", "an operator is missing", "`2*x`");
  add("sign(sin(1e6*x))", "too many kinks to find them all", "");
  add("sin(1e6*x)", "its derivative turns too often", "`--domain`, `sin(1e2*x)`");
  return grid;
}

Section section(const char* title, std::vector<std::string> notes, Grid grid = {}) {
  Section part;
  part.title = title;
  part.notes = std::move(notes);
  part.grid = std::move(grid);
  return part;
}

}  // namespace

Document expressions_page() {
  return {"Expressions",
          kSummary,
          {section("Grammar", {kGrammar, kPrecedence}), section("Names and numbers", {kNames}),
           section("Powers", {kPowers}), section("Functions", {kFunctions}, functions()),
           section("Built-in activations", {kRegistry}, registered()),
           section("Kinks and jumps", {kKinks}),
           section("Quotients that are 0/0 at a point", {kQuotients}),
           section("What is refused", {kRefused}, refused())}};
}

}  // namespace fewbit::solver
