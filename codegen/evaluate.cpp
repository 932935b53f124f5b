#include <cmath>
#include <limits>

#include "codegen/comparison.hpp"
#include "codegen/formula.hpp"
#include "codegen/templates/math.hpp"
#include "expression/scalar.hpp"

namespace fewbit::codegen {

namespace {

namespace math = generated::math;

float call_float(Kind kind, float a) {
  switch (kind) {
    case Kind::abs:
      return std::fabs(a);
    case Kind::sqrt:
      return std::sqrt(a);
    case Kind::exp:
      return math::exp(a);
    case Kind::expm1:
      return math::expm1(a);
    case Kind::log:
      return math::log(a);
    case Kind::log1p:
      return math::log1p(a);
    case Kind::tanh:
      return math::tanh(a);
    case Kind::sech2:
      return math::sech2(a);
    case Kind::sigmoid:
      return math::sigmoid(a);
    case Kind::sigmoid_slope:
      return math::sigmoid_slope(a);
    case Kind::softplus:
      return math::softplus(a);
    case Kind::tanh_softplus:
      return math::tanh_softplus(a);
    case Kind::tanh_softplus_slope:
      return math::tanh_softplus_slope(a);
    case Kind::tanh_squared:
      return math::tanh_squared(a);
    case Kind::tanhshrink:
      return math::tanhshrink(a);
    case Kind::mish_slope:
      return math::mish_slope(a);
    case Kind::softsign_slope:
      return math::softsign_slope(a);
    case Kind::erf:
      return math::erf(a);
    case Kind::normcdf:
      return math::normcdf(a);
    case Kind::normpdf:
      return math::normpdf(a);
    case Kind::sin:
      return math::sin(a);
    case Kind::cos:
      return math::cos(a);
    case Kind::atan:
      return math::atan(a);
    case Kind::gelu:
      return std::isinf(a) ? std::fmax(a, 0.0f) : a * math::normcdf(a);
    default:
      return std::numeric_limits<float>::quiet_NaN();
  }
}

/// What a comparison is with: `operand`, but for x itself the float that decides alike.
float bound_of(const Formula& formula, const Term& condition, float operand) {
  if (!bounds_variable(formula, condition)) return operand;
  return static_cast<float>(float_bound(condition.kind, formula[condition.b].value));
}

float term_value(const Formula& formula, const Term& term, const std::vector<float>& known,
                 float x) {
  const auto operand = [&](int i) { return known[static_cast<size_t>(i)]; };
  switch (term.kind) {
    case Kind::constant:
      return static_cast<float>(term.value);
    case Kind::variable:
      return x;
    case Kind::parameter:
      return static_cast<float>(formula.parameters()[size_t(term.parameter)].second);
    case Kind::negate:
      return -operand(term.a);
    case Kind::add:
      return operand(term.a) + operand(term.b);
    case Kind::subtract:
      return operand(term.a) - operand(term.b);
    case Kind::multiply:
      return operand(term.a) * operand(term.b);
    case Kind::divide:
      return operand(term.a) / operand(term.b);
    case Kind::power:
      return std::pow(operand(term.a), operand(term.b));
    case Kind::select:
      return operand(term.a) != 0.0f ? operand(term.b) : operand(term.c);
    case Kind::less:
    case Kind::less_equal:
    case Kind::greater:
    case Kind::greater_equal:
    case Kind::equal:
    case Kind::not_equal:
      return holds(term.kind, operand(term.a), bound_of(formula, term, operand(term.b))) ? 1.0f
                                                                                         : 0.0f;
    default:
      return call_float(term.kind, operand(term.a));
  }
}

}  // namespace

float evaluate(const Formula& formula, int index, float x) {
  std::vector<float> known;
  for (int i = 0; i <= index; ++i) known.push_back(term_value(formula, formula[i], known, x));
  return known.back();
}

double call_value(Kind kind, double a) {
  using solver::scalar::sigmoid, solver::scalar::softplus;
  switch (kind) {
    case Kind::abs:
      return std::fabs(a);
    case Kind::sqrt:
      return std::sqrt(a);
    case Kind::exp:
      return std::exp(a);
    case Kind::expm1:
      return std::expm1(a);
    case Kind::log:
      return std::log(a);
    case Kind::log1p:
      return std::log1p(a);
    case Kind::tanh:
      return std::tanh(a);
    case Kind::sech2:
      return 1.0 / (std::cosh(a) * std::cosh(a));
    case Kind::sigmoid:
      return sigmoid(a);
    case Kind::sigmoid_slope:
      return sigmoid(a) * sigmoid(-a);
    case Kind::softplus:
      return softplus(a);
    case Kind::tanh_softplus:
      return std::tanh(softplus(a));
    case Kind::tanh_softplus_slope:
      return std::pow(std::cosh(softplus(a)), -2.0) * sigmoid(a);
    case Kind::mish_slope:
      return std::tanh(softplus(a)) + a * call_value(Kind::tanh_softplus_slope, a);
    case Kind::tanh_squared:
      return std::tanh(a) * std::tanh(a);
    case Kind::tanhshrink:
      return a - std::tanh(a);
    case Kind::softsign_slope:
      return std::pow(1.0 + std::fabs(a), -2.0);
    case Kind::erf:
      return std::erf(a);
    case Kind::normcdf:
      return 0.5 * std::erfc(-a / std::sqrt(2.0));
    case Kind::normpdf:
      return std::exp(-0.5 * a * a) * 0.3989422804014327;
    case Kind::sin:
      return std::sin(a);
    case Kind::cos:
      return std::cos(a);
    case Kind::atan:
      return std::atan(a);
    case Kind::gelu:
      return a * call_value(Kind::normcdf, a);
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

}  // namespace fewbit::codegen
