#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>

#include "tables/builtin.hpp"
#include "tests/ops/support.hpp"

namespace fewbit::activation_test {

using test::forward;

std::vector<Table> deterministic_tables() {
  std::vector<Table> tables;
  for (const BuiltinTable& entry : builtin_tables()) {
    if (entry.table->codes == nullptr) continue;
    tables.push_back(Table::builtin(std::string(entry.function), entry.table->name));
  }
  return tables;
}

/// Dense around 0, and past every threshold.
at::Tensor inputs(int64_t count) {
  at::manual_seed(11);
  return at::cat({at::randn({count}) * 2, at::linspace(-12, 12, 97)});
}

TEST(ActivationForward, CodesNameTheLevelOfEveryElementForEveryBuiltinTable) {
  const at::Tensor x = inputs(1000);
  for (const Table& table : deterministic_tables()) {
    const auto [y, codes] = forward(x, table);
    for (int64_t i = 0; i < x.numel(); ++i) {
      const int code = test::code_at(codes, i, table.bits());
      ASSERT_EQ(table.data().levels[static_cast<size_t>(code)],
                test::level_of(table, x[i].item<float>()))
          << table.function() << ' ' << table.name() << " at " << x[i].item<float>();
      if (i > 150) i += 7;
    }
  }
}

TEST(ActivationForward, KeepsExactlyTheBitsItNames) {
  for (const int bits : {1, 2, 3, 4}) {
    const Table table = Table::standard("gelu", Bits{bits});
    for (const int64_t count : {0, 1, 7, 8, 42, 1000, 4097}) {
      const auto [y, codes] = forward(at::randn({count}), table);
      EXPECT_EQ(codes.numel(), ((count * bits + 7) / 8 + 15) / 16 * 16);
      EXPECT_EQ(codes.scalar_type(), at::kByte);
    }
  }
}

TEST(ActivationForward, ValuesAreThoseOfTheFunctionInEveryType) {
  const at::Tensor wide = inputs(5000).to(at::kDouble);
  const Table table = Table::standard("gelu", Bits{3});
  const at::Tensor exact = wide * at::special_ndtr(wide);
  for (const auto& [type, tolerance] : {std::pair(at::kDouble, 1e-14),
                                        {at::kFloat, 1e-6},
                                        {at::kBFloat16, 4e-2},
                                        {at::kHalf, 4e-3}}) {
    const auto [y, codes] = forward(wide.to(type), table);
    EXPECT_EQ(y.scalar_type(), type);
    EXPECT_LT((y.to(at::kDouble) - exact).abs().max().item<double>(), tolerance) << type;
  }
}

TEST(ActivationBackward, MultipliesEveryGradientByItsLevel) {
  for (const at::ScalarType type : {at::kDouble, at::kFloat, at::kBFloat16, at::kHalf}) {
    const at::Tensor x = inputs(3000).to(type);
    const at::Tensor dy = at::randn_like(x);
    const Table table = Table::standard("silu", Bits{3});
    const auto [y, codes] = forward(x, table);
    const at::Tensor dx = test::backward(dy, codes, table);
    at::Tensor levels = at::empty({x.numel()}, at::kFloat);
    for (int64_t i = 0; i < x.numel(); ++i) {
      levels[i] = table.data().levels[static_cast<size_t>(test::code_at(codes, i, 3))];
    }
    const at::Tensor wanted =
        type == at::kDouble ? levels.to(type) * dy : (levels * dy.to(at::kFloat)).to(type);
    EXPECT_TRUE(at::equal(dx, wanted)) << type;
  }
}

TEST(Activation, KeepsNaNInValueAndGradient) {
  at::Tensor x =
      at::zeros({20}).index_fill_(0, at::tensor({3, 17}, at::kLong), NAN).requires_grad_();
  const at::Tensor y = gelu(x, Bits{3});
  (y * y).sum().backward();
  for (int64_t i = 0; i < 20; ++i) {
    const bool is_nan = i == 3 || i == 17;
    EXPECT_EQ(std::isnan(y[i].item<float>()), is_nan) << i;
    EXPECT_EQ(std::isnan(x.grad()[i].item<float>()), is_nan) << i;
  }
}

TEST(Activation, OfMetaTensorsHasTheShapesOfRealOnes) {
  const at::Tensor x = at::empty({5, 7, 3}, at::TensorOptions().device(at::kMeta).dtype(at::kHalf));
  const Table table = Table::standard("gelu", Bits{3});
  const auto [y, codes] = forward(x.transpose(0, 2), table);
  EXPECT_EQ(y.sizes(), at::IntArrayRef({3, 7, 5}));
  EXPECT_EQ(y.strides(), x.transpose(0, 2).strides());
  EXPECT_EQ(codes.numel(), 48);
  EXPECT_EQ(test::backward(y, codes, table).sizes(), y.sizes());
}

TEST(Activation, UnderAutocastStaysIn16Bits) {
  at::autocast::set_autocast_enabled(at::kCPU, true);
  at::Tensor x = at::randn({64}).to(at::kBFloat16).requires_grad_();
  const at::Tensor y = gelu(x, Bits{3});
  at::autocast::set_autocast_enabled(at::kCPU, false);
  at::autocast::clear_cache();
  EXPECT_EQ(y.scalar_type(), at::kBFloat16);
  y.sum().backward();
  EXPECT_EQ(x.grad().scalar_type(), at::kBFloat16);
}

TEST(UnbiasedActivation, FollowsTheGeneratorAndIsTrueOnAverage) {
  const Table table = Table::builtin("gelu", "unbiased_normal_b2");
  const at::Tensor x = at::full({200000}, 0.3);
  const auto draw = [&](uint64_t seed) {
    const at::Generator generator = at::detail::createCPUGenerator(seed);
    at::Tensor input = x.clone().requires_grad_();
    activation(input, table, generator).sum().backward();
    return input.grad();
  };
  const at::Tensor first = draw(1);
  EXPECT_TRUE(at::equal(first, draw(1)));
  EXPECT_FALSE(at::equal(first, draw(2)));
  const double derivative = 0.5 * (1 + std::erf(0.3 / std::sqrt(2.0))) +
                            0.3 * std::exp(-0.045) / std::sqrt(2 * std::acos(-1.0));
  const double error = first.to(at::kDouble).mean().item<double>() - derivative;
  const double sigma = first.to(at::kDouble).std().item<double>() / std::sqrt(200000.0);
  EXPECT_LT(std::abs(error), 5 * sigma);
}

TEST(UnbiasedActivation, IsAFunctionOfItsSeed) {
  const Table table = Table::builtin("gelu", "unbiased_normal_b2");
  const at::Tensor x = at::randn({5000});
  const auto codes = [&](int64_t seed) {
    const at::Tensor drawn = at::full({1}, seed, at::kLong);
    return std::get<1>(ops::activation_forward(x, ops::arguments_of(table, at::kFloat, drawn)));
  };
  EXPECT_TRUE(at::equal(codes(7), codes(7)));
  EXPECT_FALSE(at::equal(codes(7), codes(8)));
}

}  // namespace fewbit::activation_test
