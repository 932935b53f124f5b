// The gradients of torch's eight functions of lines, bit for bit: at kinks and beside them, for
// infinite and NaN inputs and gradients, in every type.
#include <functional>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include "fewbit/fewbit.hpp"

namespace fewbit::step_functions_test {

using at::Tensor;

struct Case {
  std::string name;
  std::function<Tensor(const Tensor&)> ours;
  std::function<Tensor(const Tensor&)> torchs;
  std::vector<double> kinks;
};

std::vector<Case> cases() {
  std::vector<Case> all = {{"relu",
                            [](const Tensor& x) { return fewbit::relu(x); },
                            [](const Tensor& x) { return at::relu(x); },
                            {0.0}},
                           {"relu6",
                            [](const Tensor& x) { return fewbit::relu6(x); },
                            [](const Tensor& x) { return at::relu6(x); },
                            {0.0, 6.0}},
                           {"hardsigmoid",
                            [](const Tensor& x) { return fewbit::hardsigmoid(x); },
                            [](const Tensor& x) { return at::hardsigmoid(x); },
                            {-3.0, 3.0}}};
  for (const double slope : {0.01, 0.3, -0.2, 0.0, 1.7}) {
    all.push_back({"leaky_relu " + std::to_string(slope),
                   [=](const Tensor& x) { return fewbit::leaky_relu(x, slope); },
                   [=](const Tensor& x) { return at::leaky_relu(x, slope); },
                   {0.0}});
  }
  for (const double at : {0.0, 0.1, 0.7, -1.3, 20.0}) {
    all.push_back({"threshold " + std::to_string(at),
                   [=](const Tensor& x) { return fewbit::threshold(x, at, 0.5); },
                   [=](const Tensor& x) { return at::threshold(x, at, 0.5); },
                   {at}});
  }
  for (const auto& [low, high] :
       {std::pair{-1.0, 1.0}, std::pair{-0.1, 0.7}, std::pair{0.3, 4.1}, std::pair{-7.0, 0.0}}) {
    all.push_back(
        {"hardtanh " + std::to_string(low) + ' ' + std::to_string(high),
         [low = low, high = high](const Tensor& x) { return fewbit::hardtanh(x, low, high); },
         [low = low, high = high](const Tensor& x) { return at::hardtanh(x, low, high); },
         {low, high}});
  }
  for (const double lambda : {0.5, 0.1, 0.7, 1.3}) {
    all.push_back({"hardshrink " + std::to_string(lambda),
                   [=](const Tensor& x) { return fewbit::hardshrink(x, lambda); },
                   [=](const Tensor& x) { return at::hardshrink(x, lambda); },
                   {-lambda, lambda}});
    all.push_back({"softshrink " + std::to_string(lambda),
                   [=](const Tensor& x) { return fewbit::softshrink(x, lambda); },
                   [=](const Tensor& x) { return at::softshrink(x, lambda); },
                   {-lambda, lambda}});
  }
  return all;
}

/// The numbers of a type around `kink`, and around what float and the type round it to.
std::vector<double> around(double kink, at::ScalarType type) {
  std::vector<double> x;
  const double rounded = at::scalar_tensor(kink, at::kDouble).to(type).item<double>();
  for (const double start : {kink, static_cast<double>(static_cast<float>(kink)), rounded}) {
    const double scale = std::max(std::fabs(start), 1e-3);
    for (const double step :
         {0.0, 0x1p-53, 0x1p-52, 0x1p-24, 0x1p-23, 0x1p-12, 0x1p-11, 0x1p-9, 0x1p-8, 0x1p-7, 0.3}) {
      x.push_back(start + scale * step);
      x.push_back(start - scale * step);
    }
  }
  return x;
}

/// Each x beside each dy.
std::pair<Tensor, Tensor> grid(const Case& tried, at::ScalarType type) {
  std::vector<double> x = {0.0, -0.0, INFINITY, -INFINITY, NAN, -NAN, 1e-45, -1e-45, 5e-324, 1e30};
  for (const double kink : tried.kinks) {
    for (const double at : around(kink, type)) x.push_back(at);
  }
  const std::vector<double> dy = {1.0, -1.0, 0.0, -0.0, INFINITY, -INFINITY, NAN, 1.7, -0.3, 1e-5};
  const Tensor xs = at::tensor(x, at::kDouble).to(type);
  const Tensor dys = at::tensor(dy, at::kDouble).to(type);
  return {xs.repeat_interleave(dys.numel()), dys.repeat({xs.numel()})};
}

Tensor gradient(const std::function<Tensor(const Tensor&)>& f, const Tensor& x, const Tensor& dy) {
  const Tensor leaf = x.detach().clone().requires_grad_();
  f(leaf).backward(dy);
  return leaf.grad();
}

Tensor bits_of(const Tensor& x) {
  // One NaN for all of them.
  const Tensor plain = at::where(at::isnan(x), at::full_like(x, NAN), x);
  const at::ScalarType bits = x.element_size() == 8   ? at::kLong
                              : x.element_size() == 4 ? at::kInt
                                                      : at::kShort;
  return plain.view(bits);
}

void expect_torchs(const Case& tried, at::ScalarType type) {
  const auto [x, dy] = grid(tried, type);
  const Tensor expected = bits_of(gradient(tried.torchs, x, dy));
  const Tensor found = bits_of(gradient(tried.ours, x, dy));
  const Tensor wrong = at::nonzero(found != expected).flatten();
  if (wrong.numel() == 0) return;
  const Tensor at = wrong[0];
  ADD_FAILURE() << tried.name << ' ' << c10::toString(type) << ": " << wrong.numel() << " of "
                << x.numel() << ", at x = " << x[at.item<int64_t>()].item<double>()
                << ", dy = " << dy[at.item<int64_t>()].item<double>() << " the bits "
                << found[at.item<int64_t>()].item<int64_t>() << ", not "
                << expected[at.item<int64_t>()].item<int64_t>();
}

TEST(StepFunctions, HaveTorchsGradientsToTheBit) {
  for (const Case& tried : cases()) {
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf, at::kDouble}) {
      expect_torchs(tried, type);
    }
  }
}

TEST(StepFunctions, HaveTorchsGradientsOnEveryInstructionSet) {
  for (int64_t targets = hwy::SupportedTargets(); targets != 0; targets &= targets - 1) {
    hwy::SetSupportedTargetsForTest(targets & -targets);
    for (const Case& tried : cases()) {
      for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf, at::kDouble}) {
        expect_torchs(tried, type);
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

TEST(DoubleTensors, HaveTheParametersThatWereGiven) {
  const Tensor x = at::linspace(-9, 9, 4001, at::kDouble);
  const auto expect_near = [](const Tensor& found, const Tensor& expected, const char* what) {
    EXPECT_TRUE(at::allclose(found, expected, 1e-14, 1e-15)) << what;
  };
  expect_near(fewbit::leaky_relu(x), at::leaky_relu(x), "leaky_relu");
  expect_near(fewbit::leaky_relu(x, 0.3), at::leaky_relu(x, 0.3), "leaky_relu 0.3");
  expect_near(fewbit::elu(x, Bits{2}, 0.7), at::elu(x, 0.7), "elu");
  expect_near(fewbit::celu(x, Bits{2}, 0.7), at::celu(x, 0.7), "celu");
  expect_near(fewbit::softplus(x, Bits{2}, 1.3, 3.1), at::softplus(x, 1.3, 3.1), "softplus");
}

}  // namespace fewbit::step_functions_test
