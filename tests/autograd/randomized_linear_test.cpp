// Linear layers that keep a projection of their input: exact but for dW, whose mean and variance
// are those of the formulas.
#include "fewbit/randomized_linear.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/function.h>

#include "fewbit/saved_bytes.hpp"
#include "ops/randomized_linear.hpp"
#include "tests/ops/threads.hpp"
#include "tests/support/refusal.hpp"

namespace fewbit::randomized_linear_test {

using test::refusal;
using torch::autograd::grad;

constexpr Projection kAll[] = {Projection::gaussian, Projection::rademacher, Projection::dct,
                               Projection::rows};

struct Layer {
  at::Tensor x, weight, bias, dy;

  at::Tensor randomized(const RandomizedLinearOptions& options) const {
    return randomized_linear(x, weight, bias, options);
  }
  at::Tensor exact() const { return at::linear(x, weight, bias); }
  std::vector<at::Tensor> gradients(const at::Tensor& y) const {
    return grad({y}, {x, weight, bias}, {dy});
  }
};

Layer layer(std::vector<int64_t> shape, int64_t outputs, at::ScalarType type = at::kFloat) {
  at::manual_seed(5);
  const at::TensorOptions options(type);
  Layer made;
  made.x = at::randn(shape, options).add(0.3).requires_grad_();
  made.weight = at::randn({outputs, shape.back()}, options).requires_grad_();
  made.bias = at::randn({outputs}, options).requires_grad_();
  shape.back() = outputs;
  // What goes with x, so that dW is no sum of mere noise.
  made.dy = at::randn(shape, options).add(made.x.detach().sum(-1, true));
  return made;
}

double energy(const at::Tensor& x) {
  return x.to(at::kDouble).square().sum().item<double>();
}

/// Of each row.
at::Tensor energies(const at::Tensor& x) {
  return x.square().sum(1);
}

/// Orthonormal.
at::Tensor cosine_transform(int64_t n) {
  const at::Tensor k = at::arange(n, at::kDouble).unsqueeze(1), i = at::arange(n, at::kDouble);
  const auto count = static_cast<double>(n);
  const at::Tensor result =
      (k * (2.0 * i + 1.0) * (M_PI / (2.0 * count))).cos() * std::sqrt(2.0 / count);
  result[0].mul_(std::sqrt(0.5));
  return result;
}

/// R sum_k |x'_k|^2 |y'_k|^2, its mean over the signs of rows.
double transformed(const at::Tensor& x, const at::Tensor& y) {
  const at::Tensor weights = cosine_transform(x.size(0)).square();  // of rows in transformed ones
  const at::Tensor products = x.mm(x.t()) * y.mm(y.t());
  const at::Tensor pairs = weights.mm(products).mul(weights).sum();
  const at::Tensor alone = weights.square().mv(energies(x) * energies(y)).sum();
  const at::Tensor apart = weights.mv(energies(x)).dot(weights.mv(energies(y)));
  return static_cast<double>(x.size(0)) * (apart + 2.0 * (pairs - alone)).item<double>();
}

/// Of (S y)^T S x in p rows, summed over its elements.
double variance(Projection projection, const at::Tensor& x, const at::Tensor& y, double p) {
  const double product = energy(x.t().mm(y)), both = energy(x) * energy(y);
  const double rows = energies(x).dot(energies(y)).item<double>();
  if (projection == Projection::gaussian) return (both + product) / p;
  if (projection == Projection::rademacher) return (both + product - 2.0 * rows) / p;
  if (projection == Projection::dct) return (transformed(x, y) - product) / p;
  return (static_cast<double>(x.size(0)) * rows - product) / p;
}

TEST(RandomizedLinear, TheMeanOfManyGradientsIsTorchs) {
  constexpr int kDraws = 2048;
  const test::Threads one(1);  // of small work
  const Layer made = layer({40, 4}, 3);
  const at::Tensor exact = made.gradients(made.exact())[1].to(at::kDouble);
  for (const Projection projection : kAll) {
    SCOPED_TRACE(ops::name_of(projection));
    at::manual_seed(6);
    at::Tensor mean = at::zeros_like(exact);
    for (int draw = 0; draw < kDraws; ++draw) {
      mean += made.gradients(made.randomized({0.25, projection}))[1] / kDraws;
    }
    const double error = energy(mean - exact);
    EXPECT_LT(std::sqrt(error / energy(exact)), 0.1);
    const double expected =
        variance(projection, made.x.detach().to(at::kDouble), made.dy.to(at::kDouble), 10.0);
    EXPECT_LT(error, 3.0 * expected / kDraws);
  }
}

/// The mean square of the distance to x^T y, over what is expected. A call gives several draws, as
/// its rows are drawn independently.
double measured(Projection projection, const at::Tensor& x, const at::Tensor& y, int64_t p,
                int calls, int64_t draws_of_call, double expected) {
  const test::Threads one(1);
  const at::Tensor both = at::cat({x, y}, 1), exact = x.t().mm(y);
  const at::Tensor seeds = at::randint(std::numeric_limits<int64_t>::max(), {calls, 1}, at::kLong);
  double sum = 0.0;
  for (int call = 0; call < calls; ++call) {
    const at::Tensor kept =
        ops::project_rows(both, p * draws_of_call, ops::name_of(projection), seeds[call]);
    const at::Tensor draws = kept.view({draws_of_call, p, -1}) * std::sqrt(draws_of_call);
    const at::Tensor products = draws.slice(2, 0, x.size(1)).mT().bmm(draws.slice(2, x.size(1)));
    sum += energy(products - exact);
  }
  return sum / static_cast<double>(calls * draws_of_call) / expected;
}

TEST(RandomizedLinear, TheVarianceIsThatOfTheFormulas) {
  at::manual_seed(7);
  // Rows of different sizes, and columns with a mean.
  const at::Tensor size = at::randn({12, 1}, at::kDouble).mul(0.5).exp();
  const at::Tensor x = (at::randn({12, 4}, at::kDouble) + 0.5) * size;
  const at::Tensor y = (at::randn({12, 3}, at::kDouble) + 0.5) / size;
  for (const Projection projection : kAll) {
    SCOPED_TRACE(ops::name_of(projection));
    const double expected = variance(projection, x, y, 4.0);
    EXPECT_NEAR(measured(projection, x, y, 4, 1000, 20, expected), 1.0, 0.05);
  }
}

TEST(RandomizedLinear, TheVarianceOfBlocksIsTheSumOfTheirs) {
  at::manual_seed(8);
  const at::Tensor x = at::randn({1100, 3}, at::kDouble), y = at::randn({1100, 2}, at::kDouble);
  for (const Projection projection : {Projection::gaussian, Projection::rademacher}) {
    SCOPED_TRACE(ops::name_of(projection));
    const int64_t p = ops::kept_rows(1100, {0.02, projection});
    EXPECT_EQ(p, 24);
    double expected = 0.0;  // of blocks of 367, 367 and 366 rows
    for (int64_t begin = 0; begin < 1100; begin += 367) {
      expected +=
          variance(projection, x.slice(0, begin, begin + 367), y.slice(0, begin, begin + 367), 8.0);
    }
    EXPECT_NEAR(measured(projection, x, y, p, 1000, 1, expected), 1.0, 0.1);
  }
}

// Of the identity S gives its own rows: each is one of the transform's, with signs.
TEST(RandomizedLinear, CosineRowsAreThoseOfTheTransform) {
  for (const int64_t n : {1, 2, 3, 8, 9, 30}) {
    SCOPED_TRACE(n);
    const at::Tensor seed = at::full({1}, 17, at::kLong);
    const at::Tensor rows = ops::project_rows(at::eye(n, at::kDouble), 50, "dct", seed);
    const at::Tensor basis = cosine_transform(n).abs() * std::sqrt(static_cast<double>(n) / 50.0);
    for (int64_t row = 0; row < 50; ++row) {
      const at::Tensor distances = (basis - rows[row].abs()).abs().amax(1);
      EXPECT_LT(distances.min().item<double>(), 1e-12);
    }
  }
}

TEST(RandomizedLinear, AllElseIsTorchsBitForBit) {
  const std::vector<std::vector<int64_t>> shapes = {{40, 6}, {5, 8, 6}, {2, 5, 4, 6}};
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kBFloat16, at::kHalf}) {
    for (const std::vector<int64_t>& shape : shapes) {
      SCOPED_TRACE(testing::Message() << type << ", " << shape.size() << " dimensions");
      const Layer made = layer(shape, 7, type);
      const at::Tensor y = made.randomized({}), exact = made.exact();
      EXPECT_TRUE(at::equal(y, exact));
      const auto found = made.gradients(y), expected = made.gradients(exact);
      EXPECT_TRUE(at::equal(found[0], expected[0]));
      EXPECT_TRUE(at::equal(found[2], expected[2]));
      EXPECT_EQ(found[1].scalar_type(), type);
      EXPECT_EQ(found[1].sizes(), expected[1].sizes());
      EXPECT_FALSE(at::equal(found[1], expected[1]));
    }
  }
}

// The errors of a type's own rounding are far below those of the projection.
TEST(RandomizedLinear, HalvesHaveTheGradientsOfFloats) {
  for (const Projection projection : kAll) {
    SCOPED_TRACE(ops::name_of(projection));
    const auto gradient = [&](at::ScalarType type) {
      Layer made = layer({60, 8}, 5);
      made.x = made.x.detach().to(at::kBFloat16).to(type).requires_grad_();
      made.weight = made.weight.detach().to(type).requires_grad_();
      made.bias = made.bias.detach().to(type).requires_grad_();
      made.dy = made.dy.to(at::kBFloat16).to(type);
      at::manual_seed(9);
      return made.gradients(made.randomized({0.5, projection}))[1].to(at::kDouble);
    };
    const at::Tensor expected = gradient(at::kDouble);
    const auto distance = [&](at::ScalarType type) {
      return std::sqrt(energy(gradient(type) - expected) / energy(expected));
    };
    EXPECT_LT(distance(at::kFloat), 1e-5);
    EXPECT_LT(distance(at::kBFloat16), 0.02);
    EXPECT_LT(distance(at::kHalf), 0.003);
  }
}

TEST(RandomizedLinear, EveryCallDrawsAnew) {
  const Layer made = layer({40, 6}, 7);
  for (const Projection projection : kAll) {
    const auto gradient = [&] { return made.gradients(made.randomized({0.2, projection}))[1]; };
    at::manual_seed(10);
    const at::Tensor first = gradient(), second = gradient();
    EXPECT_FALSE(at::equal(first, second));
    at::manual_seed(10);
    EXPECT_TRUE(at::equal(gradient(), first));
    EXPECT_TRUE(at::equal(gradient(), second));
  }
}

TEST(RandomizedLinear, KeepsItsRowsAlone) {
  Layer made = layer({4, 25, 6}, 7);
  made.x = made.x * 1.0;  // of the middle of a network
  SavedBytes meter;
  {
    const auto watch = meter.watch();
    made.randomized({.keep = 0.15});
  }
  EXPECT_EQ(meter.unique_bytes(), 15 * 6 * 4 + 8);  // and the seed
}

TEST(RandomizedLinear, SharesAreRoundedUp) {
  for (const Projection projection : kAll) {
    EXPECT_EQ(ops::kept_rows(100, {0.55, projection}), 55);
    EXPECT_EQ(ops::kept_rows(101, {0.2, projection}), 21);
    EXPECT_EQ(ops::kept_rows(3, {1e-9, projection}), 1);
    EXPECT_EQ(ops::kept_rows(3000, {1.0, projection}), 3000);
    EXPECT_EQ(ops::kept_rows(0, {0.2, projection}), 0);
  }
  EXPECT_EQ(ops::kept_rows(1030, {0.1, Projection::dct}), 103);
  EXPECT_EQ(ops::kept_rows(1030, {0.1, Projection::rademacher}), 3 * 35);
}

TEST(RandomizedLinear, WithNothingToGainItIsTorchs) {
  const auto keeps_all = [](const at::Tensor& y) {
    return y.grad_fn()->name().find("Randomized") == std::string::npos;
  };
  const Layer made = layer({40, 6}, 7), vector = layer({6}, 7);
  EXPECT_TRUE(keeps_all(vector.randomized({})));
  EXPECT_TRUE(keeps_all(made.randomized({.keep = 1.0})));
  EXPECT_TRUE(at::equal(made.gradients(made.randomized({.keep = 1.0}))[1],
                        made.gradients(made.exact())[1]));
  EXPECT_FALSE(keeps_all(made.randomized({})));
  EXPECT_TRUE(keeps_all(randomized_linear(made.x, made.weight.detach(), made.bias)));
  const at::Tensor none = at::empty({0, 6}).requires_grad_();
  EXPECT_EQ(randomized_linear(none, made.weight).sizes(), at::IntArrayRef({0, 7}));
  const at::NoGradGuard no_grad;
  EXPECT_FALSE(made.randomized({}).requires_grad());
}

TEST(RandomizedLinear, GivesGradientsToThoseThatAsk) {
  const Layer made = layer({40, 6}, 7);
  const auto by_seed = [&](const at::Tensor& x, const at::Tensor& bias) {
    at::manual_seed(12);
    return grad({randomized_linear(x, made.weight, bias)}, {made.weight}, {made.dy})[0];
  };
  const at::Tensor expected = by_seed(made.x, made.bias);
  EXPECT_TRUE(at::equal(by_seed(made.x.detach(), made.bias), expected));
  EXPECT_TRUE(at::equal(by_seed(made.x, {}), expected));
  EXPECT_TRUE(at::equal(by_seed(made.x, made.bias.detach()), expected));
}

TEST(RandomizedLinear, TakesGradientsAndInputsOfAnyLayout) {
  Layer made = layer({8, 5, 6}, 7);
  const auto gradients = [&](const at::Tensor& x, const at::Tensor& dy) {
    at::manual_seed(13);
    return grad({randomized_linear(x, made.weight, made.bias)}, {x, made.weight}, {dy});
  };
  const at::Tensor dy = at::ones({}).expand({8, 5, 7});
  const at::Tensor turned = made.x.detach().transpose(0, 1).contiguous().transpose(0, 1);
  const auto expected = gradients(made.x, dy.contiguous());
  const auto found = gradients(turned.requires_grad_(), dy);
  for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(at::allclose(found[i], expected[i], 1e-5, 1e-5)) << i;
}

class Autocast {
 public:
  Autocast() { set(true); }
  ~Autocast() {
    set(false);
    at::autocast::clear_cache();
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  static void set(bool enabled) {
    at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
    at::autocast::set_autocast_enabled(at::kCPU, enabled);
  }
};

TEST(RandomizedLinear, RunsUnderAutocastAsTorch) {
  const Layer made = layer({40, 6}, 7);
  std::vector<at::Tensor> found, expected, after;
  {
    const Autocast autocast;
    const at::Tensor y = made.randomized({}), exact = made.exact();
    EXPECT_EQ(y.scalar_type(), at::kBFloat16);
    EXPECT_TRUE(at::equal(y, exact));
    const at::Tensor dy = made.dy.to(at::kBFloat16);
    found = grad({y}, {made.x, made.weight, made.bias}, {dy});
    expected = grad({exact}, {made.x, made.weight, made.bias}, {dy}, true);
  }
  EXPECT_TRUE(at::equal(found[0], expected[0]));
  EXPECT_TRUE(at::equal(found[2], expected[2]));
  EXPECT_EQ(found[1].scalar_type(), at::kFloat);
  EXPECT_GT(at::cosine_similarity(found[1].flatten(), expected[1].flatten(), 0).item<double>(),
            0.3);
}

TEST(RandomizedLinear, BackwardIsTheSameUnderAutocast) {
  const Layer made = layer({40, 6}, 7);
  at::manual_seed(14);
  const at::Tensor expected = made.gradients(made.randomized({}))[1];
  at::manual_seed(14);
  const at::Tensor y = made.randomized({});
  const Autocast autocast;
  EXPECT_TRUE(at::equal(made.gradients(y)[1], expected));
}

TEST(RandomizedLinear, RefusesWhatItCannotGive) {
  const Layer made = layer({40, 6}, 7);
  for (const double keep : {0.0, -0.1, 1.1, std::nan("")}) {
    EXPECT_NE(refusal([&] { made.randomized({.keep = keep}); }).find("keep is"), std::string::npos);
  }
  EXPECT_EQ(refusal([&] { made.randomized({.keep = 1.5}); }),
            "fewbit::randomized_linear: keep is 1.5, accepted: above 0, at most 1");
  const auto first =
      grad({made.randomized({}).square().sum()}, {made.x, made.weight, made.bias}, {}, true, true);
  for (const at::Tensor& gradient : first) {
    EXPECT_EQ(refusal([&] { grad({gradient.sum()}, {made.x}); }),
              "fewbit::randomized_linear: double backward is not possible; use torch's own linear "
              "there");
  }
}

TEST(ProjectRows, RefusesOtherArguments) {
  const at::Tensor x = at::randn({600, 3}), seed = at::zeros({1}, at::kLong);
  const auto error = [&](const at::Tensor& given, int64_t rows, const char* name,
                         const at::Tensor& key) {
    return refusal([&] { ops::project_rows(given, rows, name, key); });
  };
  EXPECT_EQ(error(x, 4, "rademacher", seed), "accepted");
  EXPECT_EQ(error(x, 5, "rademacher", seed),
            "fewbit::project_rows: rows is 5, of 600 rows of x accepted: multiples of 2");
  EXPECT_EQ(error(x, 0, "dct", seed), "fewbit::project_rows: rows is 0, accepted: 1 or more");
  EXPECT_EQ(error(x, 4, "dft", seed),
            "fewbit::project_rows: projection is dft, accepted: gaussian, rademacher, dct, rows");
  EXPECT_EQ(error(x[0], 4, "dct", seed),
            "fewbit::project_rows: x has to be a matrix of floating-point numbers, it is Float of "
            "1 dimensions");
  EXPECT_EQ(error(x, 4, "dct", at::zeros({1})),
            "fewbit::project_rows: seed has to be one int64 on x's device");
  EXPECT_EQ(error(x, 4, "dct", at::zeros({2}, at::kLong)),
            "fewbit::project_rows: seed has to be one int64");
  EXPECT_EQ(error(x.slice(0, 0, 0), 4, "dct", seed), "fewbit::project_rows: x has no rows");
  const at::Tensor asking = at::randn({6, 3}).requires_grad_();
  const at::Tensor kept = ops::project_rows(asking, 2, "rows", seed);
  EXPECT_EQ(refusal([&] { grad({kept.sum()}, {asking}); }),
            "fewbit::project_rows has no gradient; fewbit::randomized_linear has one, by backward "
            "and once");
}

}  // namespace fewbit::randomized_linear_test
