// The fast path over many points gives the bits of the slow one.

#include "expression/block.hpp"

#include <gtest/gtest.h>

#include "expression/derivative.hpp"
#include "expression/evaluate.hpp"

namespace fewbit::solver::block_test {

std::vector<double> points(double lo, double hi, int count) {
  std::vector<double> x;
  for (int i = 0; i <= count; ++i) x.push_back(lo + (hi - lo) * i / std::max(count, 1));
  return x;
}

const char* const kTexts[] = {"x*normcdf(x)",
                              "x*tanh(softplus(x))",
                              "0.5*x*(1 + tanh(0.7978845608028654*(x + 0.044715*x^3)))",
                              "expm1(x)/(2 + erf(x))",
                              "log(1 + x^2)*sqrt(3 + x^3.0/1000)",
                              "-log1p(x^2)*(x^2)^1.5 - exp(-x)*sigmoid(x)"};

TEST(Evaluate, OfManyPointsEqualsValueAndSlopeBitForBit) {
  for (const char* text : kTexts) {
    const Derivative d(Expression::parse(text), 0.5, 7.0);
    for (const int count : {0, 1, 62, 63, 64, 200}) {
      const std::vector<double> x = points(0.5, 7.0, count);
      std::vector<double> values(x.size());
      std::vector<double> slopes(x.size());
      std::vector<double> alone(x.size());
      d.evaluate(x, 0, values, slopes);
      d.evaluate(x, 0, alone);
      for (size_t i = 0; i < x.size(); ++i) {
        ASSERT_EQ(values[i], d.value(x[i])) << text << " at " << x[i];
        ASSERT_EQ(alone[i], values[i]) << text << " at " << x[i];
        ASSERT_EQ(slopes[i], d.slope(x[i])) << text << " at " << x[i];
      }
    }
  }
}

TEST(Evaluate, OfABlockEqualsJetsBitForBit) {
  for (const char* text : kTexts) {
    const Expression f = Expression::parse(text);
    for (const double x : points(0.5, 7.0, 100)) {
      double value = 0.0;
      double first = 0.0;
      double second = 0.0;
      evaluate_block(f, &x, 1, &value, &first, &second);
      const auto jet = f.evaluate(Jet<double>{x, 1.0, 0.0});
      ASSERT_EQ(value, jet.value) << text << " at " << x;
      ASSERT_EQ(value, f.evaluate(x)) << text << " at " << x;
      ASSERT_EQ(first, jet.first) << text << " at " << x;
      ASSERT_EQ(second, jet.second) << text << " at " << x;
    }
  }
}

TEST(Evaluate, WorksForMoreNodesThanTheStackHolds) {
  std::string text = "x";
  for (int i = 1; i < 100; ++i) text += " + x^2*" + std::to_string(i);
  const Derivative d(Expression::parse(text), -1, 1);
  EXPECT_DOUBLE_EQ(d.value(0.5), 1.0 + 4950.0);
  EXPECT_DOUBLE_EQ(d.slope(0.5), 9900.0);
}

}  // namespace fewbit::solver::block_test
