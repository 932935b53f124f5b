// The operations on tensors of a GPU do what they do on the CPU.
#include "tests/support/cuda_test.hpp"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "tables/builtin.hpp"
#include "tests/ops/support.hpp"
#include "tests/support/refusal.hpp"

namespace fewbit::cuda_test {

using test::forward;
using test::refusal;

class CudaActivation : public test::CudaTest {};

constexpr int64_t kDraws = 200000 / test::kSlowness;

constexpr at::ScalarType kTypes[] = {at::kFloat, at::kBFloat16, at::kHalf, at::kDouble};

at::Tensor every_half(at::ScalarType type) {
  return at::arange(-32768, 32768, at::kInt).to(at::kShort).view(type);
}

at::Tensor inputs(at::ScalarType type) {
  at::manual_seed(11);
  const at::Tensor special = at::tensor({-INFINITY, INFINITY, NAN, -0.0f, 0.0f});
  return at::cat({at::randn({5000}) * 2, at::linspace(-12, 12, 97), special}).to(type);
}

/// Places of 16-bit values among all of their type; the zeros share theirs.
at::Tensor places(const at::Tensor& y) {
  const at::Tensor bits = y.view(at::kShort).to(at::kInt);
  return at::where(bits < 0, -(bits & 0x7FFF), bits);
}

/// Gradients of f by weights on the device and on the CPU, from the same layout of the same
/// numbers.
template <class Layout>
void expect_as_on_cpu(const at::Tensor& base, const Layout& layout) {
  const auto run = [&](const at::Tensor& numbers) {
    const at::Tensor x = layout(numbers).detach().requires_grad_();
    const at::Tensor y = gelu(x, Bits{3});
    const at::Tensor weight = at::arange(y.numel(), at::kFloat).view(y.sizes()).to(y.options());
    y.backward(weight);
    return std::pair(y.detach(), x.grad());
  };
  const auto [y, dx] = run(base.to(test::kDevice));
  const auto [y_cpu, dx_cpu] = run(base);
  EXPECT_EQ(y.device().type(), test::kDevice);
  EXPECT_EQ(y.strides(), y_cpu.strides());
  EXPECT_TRUE(at::allclose(y.cpu(), y_cpu, 1e-6, 1e-6));
  EXPECT_TRUE(at::equal(dx.cpu(), dx_cpu));
}

TEST_F(CudaActivation, GivesEvery16BitInputTheCodeOfTheCpuForEveryBuiltinTable) {
  for (const at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    const at::Tensor x = every_half(type), x_cuda = x.to(test::kDevice);
    int64_t number = 0;
    for (const BuiltinTable& entry : builtin_tables()) {
      if (entry.table->codes == nullptr || number++ % test::kSlowness != 0) continue;
      const Table table = Table::builtin(std::string(entry.function), entry.table->name);
      const at::Tensor codes = std::get<1>(forward(x_cuda, table));
      ASSERT_TRUE(at::equal(codes.cpu(), std::get<1>(forward(x, table))))
          << entry.function << ' ' << table.name();
    }
  }
}

TEST_F(CudaActivation, GivesEvery16BitInputTheValueOfTheCpuOrOneNearIt) {
  for (const at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    const at::Tensor x = every_half(type);
    for (const char* function : {"gelu", "silu", "tanh", "softplus", "mish", "relu", "hardswish"}) {
      const at::Tensor y = ops::activation_value(x.to(test::kDevice), function, {}).cpu();
      const at::Tensor y_cpu = ops::activation_value(x, function, {});
      ASSERT_TRUE(at::equal(y.isnan(), y_cpu.isnan())) << function;
      // Each is the nearest value or the one beside it.
      const at::Tensor apart = (places(y) - places(y_cpu)).abs();
      ASSERT_LE(apart.masked_select(y.isnan().logical_not()).max().item<int>(), 2) << function;
    }
  }
}

TEST_F(CudaActivation, GivesTheCodesAndGradientsOfTheCpuInEveryType) {
  for (const at::ScalarType type : kTypes) {
    const at::Tensor x = inputs(type);
    for (const int bits : {1, 2, 3, 4, 6, 8}) {
      const Table table = Table::standard("silu", Bits{bits});
      const auto [y, codes] = forward(x.to(test::kDevice), table);
      const auto [y_cpu, codes_cpu] = forward(x, table);
      EXPECT_EQ(y.scalar_type(), type);
      EXPECT_TRUE(at::equal(codes.cpu(), codes_cpu)) << type << ' ' << bits;
      const at::Tensor dx = test::backward(x.to(test::kDevice), codes, table);
      const at::Tensor dx_cpu = test::backward(x, codes_cpu, table);
      EXPECT_TRUE(at::allclose(dx.cpu(), dx_cpu, 0, 0, true)) << type << ' ' << bits;
    }
  }
}

TEST_F(CudaActivation, KeepsDenseLayoutsAndCopiesOthers) {
  const at::Tensor base = at::randn({4, 6, 10, 8});
  expect_as_on_cpu(base, [](const at::Tensor& x) { return x; });
  expect_as_on_cpu(base, [](const at::Tensor& x) { return x.transpose(1, 3); });
  expect_as_on_cpu(base, [](const at::Tensor& x) { return x.slice(2, 1, 9, 2); });
  expect_as_on_cpu(base, [](const at::Tensor& x) { return x.select(1, 2).unsqueeze(0); });
  expect_as_on_cpu(
      base, [](const at::Tensor& x) { return x.contiguous(at::MemoryFormat::ChannelsLast); });
  expect_as_on_cpu(base, [](const at::Tensor& x) {
    return x.select(3, 0).unsqueeze(3).expand({4, 6, 10, 5});
  });
}

TEST_F(CudaActivation, TakesViewsAtAnyOffset) {
  for (const int64_t offset : {1, 2, 3, 5, 8}) {
    expect_as_on_cpu(at::randn({5000}), [=](const at::Tensor& x) { return x.slice(0, offset); });
  }
}

TEST_F(CudaActivation, TakesScalarsAndNothing) {
  expect_as_on_cpu(at::tensor(0.7), [](const at::Tensor& x) { return x; });
  expect_as_on_cpu(at::empty({0, 5}), [](const at::Tensor& x) { return x; });
}

TEST_F(CudaActivation, TakesExpandedGradients) {
  at::Tensor x = at::randn({33, 17}, test::kDevice).requires_grad_();
  at::Tensor again = x.detach().clone().requires_grad_();
  gelu(x, Bits{3}).sum().backward();
  gelu(again, Bits{3}).backward(at::ones({33, 17}, test::kDevice));
  EXPECT_TRUE(at::equal(x.grad(), again.grad()));
}

TEST_F(CudaActivation, OfTheUnbiasedFormFollowsTheGeneratorAndIsTrueOnAverage) {
  const Table table = Table::builtin("gelu", "unbiased_normal_b2");
  const at::Tensor x = at::full({kDraws}, 0.3, test::kDevice);
  const auto draw = [&](const std::optional<at::Generator>& generator) {
    at::Tensor input = x.clone().requires_grad_();
    activation(input, table, generator).sum().backward();
    return input.grad();
  };
  at::Generator generator =
      at::globalContext().getAcceleratorHooksInterface(test::kDevice).getNewGenerator();
  generator.set_current_seed(1);
  const at::Tensor first = draw(generator), second = draw(generator);
  EXPECT_FALSE(at::equal(first, second));
  generator.set_current_seed(1);
  EXPECT_TRUE(at::equal(first, draw(generator)));
  EXPECT_TRUE(at::equal(second, draw(generator)));
  generator.set_current_seed(2);
  EXPECT_FALSE(at::equal(first, draw(generator)));
  at::manual_seed(3);  // of all devices
  const at::Tensor by_default = draw({});
  at::manual_seed(3);
  EXPECT_TRUE(at::equal(by_default, draw({})));
  const double derivative = 0.5 * (1 + std::erf(0.3 / std::sqrt(2.0))) +
                            0.3 * std::exp(-0.045) / std::sqrt(2 * std::acos(-1.0));
  const at::Tensor drawn = first.to(at::kDouble);
  const double sigma = drawn.std().item<double>() / std::sqrt(static_cast<double>(kDraws));
  EXPECT_LT(std::abs(drawn.mean().item<double>() - derivative), 5 * sigma);
}

TEST_F(CudaActivation, RunsOnTheCurrentStream) {
  const Table table = Table::standard("gelu", Bits{3});
  const at::Tensor x = at::randn({(1 << 22) / test::kSlowness}, test::kDevice);
  const auto [y, codes] = forward(x, table);
  at::Tensor y_aside, codes_aside;
  const c10::impl::VirtualGuardImpl device(test::kDevice);
  const c10::Stream stream = device.getStreamFromGlobalPool(x.device());
  device.synchronizeDevice(x.device().index());
  {
    const c10::StreamGuard guard(stream);
    // What runs on another stream would not wait for this copy.
    at::Tensor input = at::empty_like(x);
    for (int i = 0; i < 50; ++i) input.copy_(x * (i == 49 ? 1 : 2));
    std::tie(y_aside, codes_aside) = forward(input, table);
  }
  stream.synchronize();
  EXPECT_TRUE(at::equal(y, y_aside));
  EXPECT_TRUE(at::equal(codes, codes_aside));
}

TEST_F(CudaActivation, RunsOnTheDeviceOfItsInput) {
  if (c10::impl::VirtualGuardImpl(test::kDevice).deviceCount() < 2) {
    GTEST_SKIP() << "one device only";
  }
  const at::Tensor x = at::randn({1000}).to(at::Device(test::kDevice, 1)).requires_grad_();
  const at::Tensor y = gelu(x, Bits{3});
  EXPECT_EQ(y.device().index(), 1);
  y.sum().backward();
  EXPECT_EQ(x.grad().device().index(), 1);
}

TEST_F(CudaActivation, UnderAutocastStaysIn16Bits) {
  at::autocast::set_autocast_enabled(test::kDevice, true);
  at::Tensor x = at::randn({64}, test::kDevice).to(at::kHalf).requires_grad_();
  const at::Tensor y = gelu(x, Bits{3});
  at::autocast::set_autocast_enabled(test::kDevice, false);
  at::autocast::clear_cache();
  EXPECT_EQ(y.scalar_type(), at::kHalf);
  y.sum().backward();
  EXPECT_EQ(x.grad().scalar_type(), at::kHalf);
}

TEST_F(CudaActivation, RefusesTensorsOfSeveralDevices) {
  const Table table = Table::standard("gelu", Bits{3});
  const at::Tensor x = at::ones({100});
  const auto [y, kept] = forward(x, table);
  const at::Tensor codes = kept;
  const std::string name = c10::DeviceTypeName(test::kDevice, /*lower_case=*/true);
  EXPECT_EQ(refusal([&] { test::backward(x.to(test::kDevice), codes, table); }),
            "fewbit::activation_backward: codes is on cpu, but dy on " + name + ":0");
  EXPECT_EQ(refusal([&] { test::backward(x, codes.to(test::kDevice), table); }),
            "fewbit::activation_backward: dy is on cpu, but another argument on " + name);
}

}  // namespace fewbit::cuda_test
