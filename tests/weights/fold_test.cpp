#include "tests/weights/support.hpp"

namespace fewbit::solver::fold_test {
std::unique_ptr<Weight> folded(const WeightSpec& spec) {
  return fold_weight(make_weight(spec));
}

TEST(FoldedWeight, IsTheSumOfBothSides) {
  const auto plain = make_weight(normal_spec(0.4, 1.5));
  const auto weight = folded(normal_spec(0.4, 1.5));
  for (const double x : {0.0, 0.3, 2.0, 7.0}) {
    EXPECT_EQ(weight->density(x), plain->density(x) + plain->density(-x));
  }
  EXPECT_EQ(weight->density(-0.1), 0.0);
}

TEST(FoldedWeight, DoublesAnEvenOne) {
  EXPECT_EQ(folded({})->density(3.0), 2.0);
  EXPECT_EQ(folded({})->support().lo, 0.0);
  EXPECT_FALSE(folded({})->is_integrable());
}

TEST(FoldedWeight, ReachesToTheFartherEnd) {
  const Domain support = folded(histogram_spec({-3.0, -1.0, 2.0}, {1.0, 1.0}))->support();
  EXPECT_EQ(support.lo, 0.0);
  EXPECT_EQ(support.hi, 3.0);
}

TEST(FoldedWeight, MirrorsASupportOnTheNegativeSide) {
  const auto weight = folded(histogram_spec({-3.0, -2.5, -1.0}, {1.0, 9.0}));
  EXPECT_EQ(weight->support().lo, 1.0);
  EXPECT_EQ(weight->support().hi, 3.0);
  EXPECT_DOUBLE_EQ(weight->density(2.0), 0.6);
  EXPECT_EQ(weight->breaks(), std::vector<double>({2.5}));
}

TEST(FoldedWeight, BreaksWhereEitherSideBreaksOrEnds) {
  const auto weight = folded(histogram_spec({-4.0, -1.0, 0.0, 2.0, 3.0}, {1.0, 5.0, 9.0, 1.0}));
  EXPECT_EQ(weight->breaks(), std::vector<double>({1.0, 2.0, 3.0}));
}
}  // namespace fewbit::solver::fold_test
