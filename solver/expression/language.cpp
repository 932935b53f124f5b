#include "expression/language.hpp"

namespace fewbit::solver {

const std::vector<FunctionText>& function_texts() {
  static const std::vector<FunctionText> texts = {
      {"abs", "abs(u)", "the magnitude of u", "any u",
       "sign of u; where u = 0 the one just left of that x", "x/(1 + abs(x))"},
      {"sign", "sign(u)", "-1, 0 or 1", "any u", "0; the jump at u = 0 does not count",
       "where(abs(x) > 1, x - sign(x), 0)"},
      {"min", "min(u, v)", "the smaller one", "any u, v",
       "of the one taken; where u = v of the one just left of that x", "min(max(x, 0), 6)"},
      {"max", "max(u, v)", "the larger one", "any u, v",
       "of the one taken; where u = v of the one just left of that x", "max(x, 0.1*x)"},
      {"clamp", "clamp(u, a, b)", "a where u < a, b where u > b, else u", "any u, a, b",
       "of the one taken; at a border of the one just left of that x", "x*clamp(x + 3, 0, 6)/6"},
      {"where", "where(c, u, v)", "u where c is not 0, else v; c is mostly a comparison",
       "any; u and v need to be finite only where they are taken",
       "of the one taken; at a border of the one just left of that x, whether f jumps or not",
       "where(x > 0, x, 0.5*expm1(x))"},
      {"sqrt", "sqrt(u)", "the square root", "u > 0 (its slope is infinite at 0)", "0.5/sqrt(u)",
       "0.5*(x + sqrt(x^2 + 4))"},
      {"exp", "exp(u)", "e^u", "u below 709", "exp(u)", "x*exp(-x^2/2)"},
      {"expm1", "expm1(u)", "e^u - 1, to the last digits for small u", "u below 709", "exp(u)",
       "where(x > 0, x, expm1(x))"},
      {"log", "log(u)", "the natural logarithm", "u > 0", "1/u", "sign(x)*log(1 + abs(x))"},
      {"log1p", "log1p(u)", "log(1 + u), to the last digits for small u", "u > -1", "1/(1 + u)",
       "log1p(x^2)"},
      {"log2", "log2(u)", "the logarithm to base 2", "u > 0", "1/(u*log(2))", "log2(1 + x^2)"},
      {"log10", "log10(u)", "the logarithm to base 10", "u > 0", "1/(u*log(10))", "log10(1 + x^2)"},
      {"pow", "pow(u, v)", "u^v", "u > 0, or any u where v is a whole number without x",
       "as of u^v", "pow(1 + x^2, 0.25)"},
      {"tanh", "tanh(u)", "the hyperbolic tangent", "any u", "1/cosh(u)^2", "x*tanh(softplus(x))"},
      {"sigmoid", "sigmoid(u)", "1/(1 + e^-u)", "any u", "sigmoid(u)*sigmoid(-u)",
       "x*sigmoid(1.702*x)"},
      {"softplus", "softplus(u)", "log(1 + e^u)", "any u", "sigmoid(u)", "-softplus(-x)"},
      {"erf", "erf(u)", "the error function", "any u", "2/sqrt(pi)*exp(-u^2)",
       "x*(1 + erf(x/sqrt(2)))/2"},
      {"erfc", "erfc(u)", "1 - erf(u), to the last digits for large u", "any u",
       "-2/sqrt(pi)*exp(-u^2)", "x*erfc(-x/sqrt(2))/2"},
      {"normcdf", "normcdf(u)", "the standard normal distribution function", "any u",
       "exp(-u^2/2)/sqrt(2*pi)", "x*normcdf(x)"},
      {"sin", "sin(u)", "the sine, u in radians", "any u", "cos(u)", "x + sin(x)^2"},
      {"cos", "cos(u)", "the cosine, u in radians", "any u", "-sin(u)", "cos(x) - x"},
      {"atan", "atan(u)", "the arc tangent, in radians", "any u", "1/(1 + u^2)",
       "x*(0.5 + atan(x)/pi)"},
  };
  return texts;
}

}  // namespace fewbit::solver
