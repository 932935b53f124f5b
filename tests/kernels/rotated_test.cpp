// The rotated quantizer against the same written out plainly, and what it promises: no bias, the
// error of the best table for N(0, 1), exact bytes, every group for itself.
#include "tests/kernels/rotated_support.hpp"
#include "tests/kernels/support.hpp"

namespace fewbit::kernels::rotated_test {

using namespace rotated;

TEST(Rotated, IsTheDefinitionOnEveryInstructionSet) {
  for_each_target([](int64_t target) {
    SCOPED_TRACE(hwy::TargetName(target));
    for (const auto type : {ElementType::f32, ElementType::bf16, ElementType::f16}) {
      for (int bits = 1; bits <= 8; ++bits) {
        for (const int64_t group : {64, 128, 256, 512, 1024}) {
          SCOPED_TRACE(testing::Message() << "type " << static_cast<int>(type) << ", " << bits
                                          << " bits, groups of " << group);
          expect_as_reference({type, bits, group, 3 * group + 17, {7, 11}},
                              normal(3 * group + 17, 1, 2.0, 0.5));
        }
      }
    }
  });
}

TEST(Rotated, TakesAnyCount) {
  for (const int64_t count : {1, 2, 63, 64, 65, 255, 256, 257, 1000, 5000}) {
    SCOPED_TRACE(count);
    expect_as_reference({ElementType::f32, 3, 256, count, {1, 2}}, normal(count, 5));
  }
}

TEST(Rotated, PartsOfARunAreTheWhole) {
  const RotatedFormat format{ElementType::f32, 2, 128, 10'000, {3, 4}};
  const auto x = bytes_of(format.type, normal(format.count, 2));
  const Kept whole = encode(format, x);
  Kept parts{std::vector<uint8_t>(whole.codes.size()),
             std::vector<uint8_t>(whole.constants.size())};
  std::vector<uint8_t> back(x.size());
  for (int64_t begin = 0; begin < format.groups(); begin += 7) {
    const GroupRange range{begin, std::min(begin + 7, format.groups())};
    rotated_encode(format, x.data(), parts.codes.data(), parts.constants.data(), range);
    rotated_decode(format, whole.codes.data(), whole.constants.data(), back.data(), range);
  }
  EXPECT_EQ(parts, whole);
  EXPECT_EQ(back, decode(format, whole));
}

// Of Gaussian groups, after the factor: D / (1 - D) of the energy, D the table's own error.
TEST(Rotated, ErrorIsTheTables) {
  for (int bits = 1; bits <= 8; ++bits) {
    const RotatedFormat format{ElementType::f32, bits, 256, 256 * 400, {5, 6}};
    const auto x = normal(format.count, 3);
    const double measured = squared_distance(x, there_and_back(format, x)) / energy(x);
    // The factor is rounded to bf16, which shows from 7 bits on.
    EXPECT_NEAR(measured / rotated_error(bits), 1.0, 0.06) << bits << " bits";
  }
}

// The same for what is nothing like Gaussian: half of it zeros, few large ones, one alone.
TEST(Rotated, ErrorDoesNotDependOnTheDistribution) {
  const RotatedFormat format{ElementType::f32, 2, 256, 256 * 400, {8, 9}};
  const double error = rotated_error(2);
  auto x = normal(format.count, 4);
  for (double& value : x) value = std::max(value, 0.0);
  EXPECT_LT(squared_distance(x, there_and_back(format, x)) / energy(x), error);
  for (double& value : x) value = std::pow(value, 5);
  EXPECT_LT(squared_distance(x, there_and_back(format, x)) / energy(x), 1.02 * error);
  // All of u is 1 or near it, which is beside the threshold.
  std::vector<double> alone(256, 0.0);
  alone[77] = 3.0;
  const auto back = there_and_back({ElementType::f32, 2, 256, 256, {8, 9}}, alone);
  EXPECT_LT(squared_distance(alone, back) / energy(alone), 1.5 * error);
}

// Over draws of the signs the mean error of every element is none: by its own standard error.
TEST(Rotated, HasNoBiasToSpeakOf) {
  constexpr int kDraws = 4000;
  for (const int bits : {1, 2, 4}) {
    std::vector<double> x = normal(256, 6);
    for (double& value : x) value = value > 0 ? value : 0.1 * value;  // skewed
    // The mean of so many draws alone gives 1 / kDraws of the noise; 256 elements scatter by 9 %.
    EXPECT_LT(bias_of({ElementType::f32, bits, 256, 256, {99, 0}}, x, kDraws), 1.0 / kDraws + 8e-4)
        << bits << " bits";
  }
}

// One element that is most of its group takes nothing from the others: their mean slope is 1. Nor
// does it matter to the error where the energy lies.
TEST(Rotated, AnOutlierBiasesNoOther) {
  constexpr int kDraws = 4000;
  for (const int states : {0, 4}) {
    for (const int bits : {1, 2}) {
      std::vector<double> x = normal(256, 6);
      x[17] = 30.0;
      double slope = 0.0, own = 0.0;
      for (int draw = 0; draw < kDraws; ++draw) {
        const auto back = there_and_back(
            {ElementType::f32, bits, 256, 256, {99, static_cast<uint64_t>(draw)}, states}, x);
        for (size_t i = 0; i < 256; ++i) slope += i == 17 ? 0.0 : back[i] * x[i] / kDraws;
      }
      for (size_t i = 0; i < 256; ++i) own += i == 17 ? 0.0 : x[i] * x[i];
      // The noise on each of the others is .57 or .13 of 900 / 256.
      EXPECT_NEAR(slope / own, 1.0, 0.012) << states << " states, " << bits << " bits";
    }
  }
}

TEST(Rotated, ErrorSpreadsOverTheGroup) {
  std::vector<double> x = normal(256, 6);
  for (size_t i = 64; i < 256; ++i) x[i] = 0.0;
  double there = 0.0, all = 0.0;
  for (uint64_t draw = 0; draw < 2000; ++draw) {
    const auto back = there_and_back({ElementType::f32, 1, 256, 256, {99, draw}}, x);
    for (size_t i = 0; i < 256; ++i) {
      const double square = (back[i] - x[i]) * (back[i] - x[i]);
      all += square;
      if (i < 64) there += square;
    }
  }
  EXPECT_NEAR(there / all, 0.25, 0.02);
}

TEST(Rotated, OtherSignsMakeOtherErrors) {
  const auto x = normal(256, 7);
  RotatedFormat format{ElementType::f32, 2, 256, 256, {1, 1}};
  const auto first = there_and_back(format, x);
  format.signs.offset = 2;
  EXPECT_NE(there_and_back(format, x), first);
  format.signs = {2, 1};
  EXPECT_NE(there_and_back(format, x), first);
}

TEST(Rotated, ConstantGroupsComeBackAsTheirMean) {
  for (const double value : {0.0, -1.5, 3e38, -1e-38, 65504.0}) {
    const auto back =
        there_and_back({ElementType::f32, 3, 64, 100, {1, 1}}, std::vector<double>(100, value));
    for (const double v : back) EXPECT_NEAR(v, value, std::fabs(value) / 250.0) << value;
  }
  const auto exact =
      there_and_back({ElementType::f32, 3, 64, 100, {1, 1}}, std::vector<double>(100, -1.5));
  EXPECT_EQ(exact, std::vector<double>(100, -1.5));
}

TEST(Rotated, AnyMagnitudeIsScaled) {
  for (const auto type : {ElementType::f32, ElementType::f64, ElementType::bf16}) {
    for (const double scale : {1e-36, 1e-30, 1e-20, 1e-10, 1e10, 1e20, 1e30, 1e37}) {
      const RotatedFormat format{type, 4, 256, 1024, {1, 2}};
      const auto x = normal(format.count, 8, scale);
      EXPECT_LT(squared_distance(x, there_and_back(format, x)) / energy(x), 0.012)
          << "type " << static_cast<int>(type) << ", " << scale;
    }
  }
  for (const double scale : {1e-290, 1e-150, 1e150, 1e290}) {
    const RotatedFormat format{ElementType::f64, 4, 256, 1024, {1, 2}};
    auto x = normal(format.count, 8, scale);
    auto back = there_and_back(format, x);
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] /= scale;
      back[i] /= scale;
    }
    EXPECT_LT(squared_distance(x, back) / energy(x), 0.012) << scale;
  }
}

TEST(Rotated, StaysFiniteAtTheEndOfEveryType) {
  const struct {
    ElementType type;
    double greatest;
  } cases[] = {{ElementType::f16, 65504.0},
               {ElementType::bf16, 3.3895313892515355e38},
               {ElementType::f32, 3.4028234663852886e38},
               {ElementType::f64, 1.7976931348623157e308}};
  for (const auto& [type, greatest] : cases) {
    for (int bits = 1; bits <= 8; ++bits) {
      std::vector<double> x(256, greatest);
      for (size_t i = 0; i < x.size(); i += 3) x[i] = -greatest;
      for (const double v : there_and_back({type, bits, 256, 256, {1, 2}}, x)) {
        EXPECT_TRUE(std::isfinite(v));
      }
    }
  }
}

TEST(Rotated, AGroupThatIsNotFiniteIsNaNAndOthersAreRight) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const auto type : {ElementType::f32, ElementType::f64, ElementType::bf16}) {
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity}) {
      const RotatedFormat format{type, 2, 64, 192, {1, 2}};
      auto x = normal(format.count, 9);
      const auto right = there_and_back(format, x);
      x[100] = bad;
      const auto back = there_and_back(format, x);
      for (size_t i = 0; i < x.size(); ++i) {
        if (i / 64 == 1) {
          EXPECT_TRUE(std::isnan(back[i]));
        } else {
          EXPECT_EQ(back[i], right[i]);
        }
      }
    }
  }
}

}  // namespace fewbit::kernels::rotated_test
