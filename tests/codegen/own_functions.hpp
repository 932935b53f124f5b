#pragma once

/// Functions as users write them, with what the registry's do not use: F(name, expression, whether
/// it has reached its limits at infinity by |x| = 10). emit_fixture writes emitted/own/NAME.hpp for
/// each.
#define FEWBIT_OWN_FUNCTIONS(F)                                        \
  F(own_snake, "x + sin(x)^2", false)                                  \
  F(own_wave, "x*cos(x)", false)                                       \
  F(own_hump, "x*(1 - cos(x))/2", false)                               \
  F(own_atan, "x*atan(x)", true)                                       \
  F(own_bump, "sin(2*tanh(x))*atan(x)", true)                          \
  F(own_erfc, "x*erfc(-x/sqrt(2))/2", true)                            \
  F(own_logs, "sign(x)*(log2(1 + abs(x)) + log10(1 + abs(x)))", false) \
  F(own_power, "e^min(x, 0) + x*pow(2, -x^2)", true)                   \
  F(own_calls, "gelu(2*x) + elu(x, alpha=0.5) + hardtanh(x, -0.5, 1)", true)

namespace fewbit::test {

/// In units of what the registry's functions are allowed: the roundings of sums and products that a
/// user wrote add up.
inline constexpr double kOwnError = 2.5;

}  // namespace fewbit::test
