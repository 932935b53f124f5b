// Codes of a trellis against Viterbi's algorithm written out plainly, and what they promise.
#include "tests/kernels/rotated_support.hpp"
#include "tests/kernels/support.hpp"

namespace fewbit::kernels::trellis_test {

using namespace rotated;

TEST(Trellis, IsTheDefinitionOnEveryInstructionSet) {
  for_each_target([](int64_t target) {
    SCOPED_TRACE(hwy::TargetName(target));
    for (const int states : {4, 8}) {
      for (int bits = 1; bits <= kMostTrellisBits; ++bits) {
        for (const int64_t group : {64, 128, 256, 512, 1024}) {
          SCOPED_TRACE(testing::Message()
                       << states << " states, " << bits << " bits, groups of " << group);
          // More groups than lanes, and some left.
          const int64_t count = (group < 256 ? 19 : 3) * group + 17;
          expect_as_reference({ElementType::f32, bits, group, count, {7, 11}, states},
                              normal(count, 1, 2.0, 0.5));
        }
      }
    }
  });
}

TEST(Trellis, TakesAnyCountAndType) {
  for (const auto type : {ElementType::f32, ElementType::bf16, ElementType::f16}) {
    for (const int64_t count : {1, 64, 65, 255, 256, 257, 5000}) {
      SCOPED_TRACE(count);
      expect_as_reference({type, 2, 256, count, {1, 2}, 4}, normal(count, 5));
    }
  }
}

TEST(Trellis, ErrorIsTheTables) {
  for (const int states : {4, 8}) {
    for (int bits = 1; bits <= 4; ++bits) {
      const RotatedFormat format{ElementType::f32, bits, 256, 256 * 400, {5, 6}, states};
      const auto x = normal(format.count, 3);
      const double measured = squared_distance(x, there_and_back(format, x)) / energy(x);
      EXPECT_NEAR(measured / rotated_error(bits, states), 1.0, 0.03)
          << states << " states, " << bits << " bits";
      EXPECT_LT(measured, 0.85 * rotated_error(bits));
    }
  }
}

TEST(Trellis, HasNoBiasToSpeakOf) {
  constexpr int kDraws = 4000;
  for (const int bits : {1, 2}) {
    std::vector<double> x = normal(256, 6);
    for (double& value : x) value = value > 0 ? value : 0.1 * value;  // skewed
    EXPECT_LT(bias_of({ElementType::f32, bits, 256, 256, {99, 0}, 4}, x, kDraws),
              1.0 / kDraws + 8e-4)
        << bits << " bits";
  }
}

TEST(Trellis, TakesGroupsOfEveryKind) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const RotatedFormat format{ElementType::f32, 2, 64, 256, {1, 2}, 4};
  std::vector<double> x = normal(256, 9);
  const auto right = there_and_back(format, x);
  std::fill_n(x.begin() + 64, 64, -1.5);
  x[130] = kNaN;
  for (size_t i = 192; i < 256; ++i) x[i] *= 1e30;
  const auto back = there_and_back(format, x);
  for (size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(back[i], right[i]);
    EXPECT_EQ(back[64 + i], -1.5);
    EXPECT_TRUE(std::isnan(back[128 + i]));
    EXPECT_NEAR(back[192 + i], x[192 + i], 2e30);
  }
}

}  // namespace fewbit::kernels::trellis_test
