// Boost's automatic differentiation with 50 digits against f, f' and f'' in double.

#include <boost/math/differentiation/autodiff.hpp>
#include <gtest/gtest.h>

#include "expression/derivative.hpp"
#include "expression/evaluate.hpp"
#include "tests/expression/reference.hpp"
#include "tests/functions/every_function.hpp"

namespace fewbit::solver::accuracy_test {

constexpr double kEpsilon = 2.220446049250313e-16;

struct Exact {
  Wide value;
  Wide first;
  Wide second;
};

Exact exact(const Expression& f, double x) {
  const auto jet = reference(f, boost::math::differentiation::make_fvar<Wide, 2>(Wide(x)));
  return {jet.derivative(0), jet.derivative(1), jet.derivative(2)};
}

/// 1 + tanh and 1 - tanh' cancel: there the error is one of rounding of 1.
bool cancels(const std::string& name) {
  return name == "gelu_tanh" || name == "tanhshrink";
}

double off(double computed, const Wide& truth) {
  return static_cast<double>(abs(Wide(computed) - truth));
}

template <class Check>
void for_all_points(const Check& check) {
  for (const std::string& name : every_function()) {
    const Expression f = expression_of(parse_function(name));
    for (const double end : {10.0, 36.0}) {
      const Derivative d(f, -end, end);
      for (const double x : irregular_points(end, 400)) check(name, f, d, x, exact(f, x));
    }
  }
}

TEST(Accuracy, OfTheValueIsFourRoundingsOfItselfAndOfX) {
  for_all_points([](const std::string& name, const Expression& f, const Derivative&, double x,
                    const Exact& e) {
    const auto scale = static_cast<double>(abs(e.value) + abs(x * e.first));
    const double floor = cancels(name) ? std::abs(x) : 0.0;
    ASSERT_LE(off(f.evaluate(x), e.value), 4 * kEpsilon * (scale + floor)) << name << " at " << x;
  });
}

TEST(Accuracy, OfTheDerivativeIsFourRoundingsOfItselfAndOfXAlsoInTheTails) {
  for_all_points([](const std::string& name, const Expression&, const Derivative& d, double x,
                    const Exact& e) {
    const auto scale = static_cast<double>(abs(e.first) + abs(x * e.second));
    const double floor = cancels(name) ? 1.0 : 0.0;
    ASSERT_LE(off(d.value(x), e.first), 4 * kEpsilon * (scale + floor)) << name << " at " << x;
  });
}

TEST(Accuracy, OfTheSlopeGrowsWithTheSquareOfX) {
  for_all_points([](const std::string& name, const Expression&, const Derivative& d, double x,
                    const Exact& e) {
    const auto scale = static_cast<double>((1 + x * x) * abs(e.second) + abs(e.first));
    const double floor = cancels(name) ? 1.0 + std::abs(x) : 0.0;
    ASSERT_LE(off(d.slope(x), e.second), 4 * kEpsilon * (scale + floor)) << name << " at " << x;
  });
}

TEST(Accuracy, OfJetsIsThatOfTheDerivative) {
  for_all_points([](const std::string& name, const Expression& f, const Derivative& d, double x,
                    const Exact&) {
    const auto jet = f.evaluate(Jet<double>{x, 1.0, 0.0});
    ASSERT_EQ(jet.first, d.value(x)) << name << " at " << x;
    ASSERT_EQ(jet.second, d.slope(x)) << name << " at " << x;
  });
}

}  // namespace fewbit::solver::accuracy_test
