// The double reference of the accuracy measurement against the registry's expression with 50
// digits.
#include "bench/accuracy/reference.hpp"

#include <boost/math/differentiation/autodiff.hpp>
#include <gtest/gtest.h>

#include "functions/registry.hpp"
#include "tests/expression/reference.hpp"

namespace fewbit::bench::reference_test {

using solver::Wide;

/// Floats of all magnitudes from 2^-20 to 16, both signs.
std::vector<float> points() {
  std::vector<float> x;
  for (float at = 0x1p-20f; at < 16.0f; at *= 1.0137f) {
    x.push_back(at);
    x.push_back(-at);
  }
  return x;
}

/// Within 2e-4 ulp of float, or of its smallest step, of f(x) or of what a float's spacing at x
/// makes of it (at a zero of f nothing is relative).
void expect_near(double actual, const Wide& exact, const Wide& swing, float x) {
  const Wide off = abs(Wide(actual) - exact);
  EXPECT_LE(off, 1e-11 * (abs(exact) + abs(x * swing)) + 1e-46) << "at " << x;
}

TEST(Reference, IsFarCloserThanAFloatAlsoInTheTails) {
  const std::vector<float> x = points();
  std::vector<double> value(x.size());
  std::vector<double> slope(x.size());
  for (const solver::FunctionInfo& info : solver::registry()) {
    SCOPED_TRACE(info.name);
    solver::FunctionSpec spec = solver::parse_function(info.name);
    for (auto& [parameter, number] : spec.parameters) number = static_cast<float>(number);
    const solver::Expression f = solver::expression_of(spec);
    Reference(info.name)(x, value, slope);
    for (size_t i = 0; i < x.size(); ++i) {
      const auto at = boost::math::differentiation::make_fvar<Wide, 2>(Wide(x[i]));
      const auto jet = solver::reference(f, at);
      expect_near(value[i], jet.derivative(0), jet.derivative(1), x[i]);
      expect_near(slope[i], jet.derivative(1), jet.derivative(2), x[i]);
    }
  }
}

}  // namespace fewbit::bench::reference_test
