// What the mean of 1,024 draws is off by: what chance leaves, of every codec that rounds at random.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ops/integers.hpp"
#include "tests/codecs/support.hpp"

namespace fewbit::codecs::bias_test {

constexpr int64_t kDraws = 1024;
constexpr int64_t kGroups = 32;
constexpr int64_t kGroup = 256;

/// Groups of lengths that lie anywhere between two powers of two, as an image.
at::Tensor elements(double mean, bool are_skewed) {
  at::manual_seed(11);
  at::Tensor x = at::randn({kGroups, kGroup}, at::kDouble).add_(mean);
  if (are_skewed) x = at::where(x > 0.0, x, x.mul(0.05));
  const at::Tensor exponent = at::arange(kGroups, at::kDouble).div(kGroups);
  return x.mul(exponent.exp2().unsqueeze(1)).to(at::kFloat).view({2, 4, 32, 32});
}

struct Bias {
  double of_elements;  ///< squared, over what chance leaves of so many draws
  double of_groups;    ///< of what each group is multiplied by, in squares of its standard error
};

Bias bias_of(const CodecPointer& codec, const at::Tensor& x) {
  const at::Tensor exact = run_of(x).to(at::kDouble).view({kGroups, kGroup});
  const at::Tensor centred = exact - exact.mean(1, true);
  const at::Tensor energy = centred.square().sum(1);
  at::Tensor sum = at::zeros_like(exact);
  double squares = 0.0;
  std::vector<at::Tensor> slopes;
  for (int64_t draw = 0; draw < kDraws; ++draw) {
    const at::Tensor back = codec->encode(x, random_of(5, draw << 32))->decoded();
    const at::Tensor error = back.to(at::kDouble).view({kGroups, kGroup}) - exact;
    sum += error;
    squares += error.square().sum().item().toDouble();
    slopes.push_back((error * centred).sum(1) / energy);
  }
  const at::Tensor slope = at::stack(slopes);
  // What is computed in float is never nearer than that.
  const at::Tensor standard_error = slope.std(0) / std::sqrt(kDraws) + 1e-6;
  return {sum.square().sum().item().toDouble() / squares,
          (slope.mean(0) / standard_error).square().mean().item().toDouble()};
}

/// 8,192 elements, in groups whose errors go together a little: a standard deviation is some .03 of
/// elements and .25 of groups. Rotation's own bias, of the order of 1 / group, is .1 at one bit.
void expect_no_bias(const CodecPointer& codec, const at::Tensor& x, const std::string& what) {
  const Bias bias = bias_of(codec, x);
  EXPECT_LT(bias.of_elements, 1.2) << codec->name() << ", " << what;
  EXPECT_LT(bias.of_groups, 2.25) << codec->name() << ", " << what;
}

void expect_no_bias(const CodecPointer& codec) {
  expect_no_bias(codec, elements(0.0, false), "normal");
  expect_no_bias(codec, elements(0.5, true), "skewed");
  expect_no_bias(codec, elements(20.0, false), "far from zero");
}

/// Three elements of each group that are not 0: of what is rotated nearly all are the same numbers.
at::Tensor few_elements() {
  at::manual_seed(12);
  const at::Tensor place = at::randint(kGroup, {kGroups, 3}, at::kLong);
  const at::Tensor values = elements(0.0, false).view({kGroups, kGroup}).slice(1, 0, 3);
  return at::zeros({kGroups, kGroup}).scatter(1, place, values).view({2, 4, 32, 32});
}

TEST(Bias, IsNoneOfRotatedWhereFewElementsAreNotZero) {
  for (int bits = 3; bits <= 8; ++bits) {
    expect_no_bias(rotated({bits, kGroup}), few_elements(), "few");
  }
}

TEST(Bias, IsNoneOfRotated) {
  for (int bits = 1; bits <= 8; ++bits) expect_no_bias(rotated({bits, kGroup}));
}

TEST(Bias, IsNoneOfATrellis) {
  for (const int states : {4, 8}) {
    for (int bits = 1; bits <= 4; ++bits) expect_no_bias(rotated({bits, kGroup, states}));
  }
}

TEST(Bias, IsNoneOfRotatedByClass) {
  const at::Tensor x = elements(0.0, false);
  const at::Tensor signs = ops::integer_encode(run_of(x).gt(0.0).to(at::kByte), 0, 1);
  const Classes classes{2, [signs] { return ops::ElementClasses{signs, 1}; }, {}};
  for (int bits = 1; bits <= 8; ++bits) {
    expect_no_bias(rotated_by_class({bits, kGroup}, classes), x, "signs known");
  }
}

TEST(Bias, IsNoneOfGroups) {
  for (int bits = 1; bits <= 8; ++bits) expect_no_bias(grouped(bits, kGroup));
}

TEST(Bias, IsNoneOfSquares) {
  for (int bits = 1; bits <= 8; ++bits) expect_no_bias(squares(bits, kGroup));
}

TEST(Bias, IsNoneOfGroupsBySample) {
  for (int bits = 1; bits <= 8; ++bits) expect_no_bias(grouped_by_sample(bits, kGroup));
}

TEST(Bias, IsNoneOfFrequencySplit) {
  for (int bits = 1; bits <= 8; ++bits) expect_no_bias(frequency_split(bits));
}

}  // namespace fewbit::codecs::bias_test
