// What watching costs, who may watch and when, and that the errors told are those of the data.
#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/container/sequential.h>

#include "calibration/site_statistics.hpp"
#include "fewbit/fewbit.hpp"
#include "fewbit/peak_bytes.hpp"
#include "tests/support/refusal.hpp"

namespace fewbit::calibrator_watch_test {

int64_t bytes_to_observe(const at::Tensor& x) {
  session::SiteStatistics statistics;
  statistics.observe(x);  // what stays is there now
  return peak_bytes([&] { statistics.observe(x); });
}

/// The mean squared error of a table's derivative on the inputs themselves.
double error_on(const at::Tensor& inputs, const Table& table,
                const std::function<at::Tensor(const at::Tensor&)>& exact) {
  const at::Tensor x = inputs.detach().clone().requires_grad_();
  activation(x, table).sum().backward();
  const at::Tensor y = inputs.detach().to(at::kDouble).requires_grad_();
  exact(y).sum().backward();
  return (x.grad() - y.grad()).square().mean().item<double>();
}

torch::nn::Sequential gelu_model() {
  return torch::nn::Sequential(nn::GELU(nn::GELUOptions().bits(2)));
}

nn::GELUImpl& first(torch::nn::Sequential& model) {
  return *std::dynamic_pointer_cast<nn::GELUImpl>(model->ptr(0));
}

TEST(Watching, TakesAFewPerCentOfTheInputsMemory) {
  const at::Tensor rows = at::randn({1024, 2048}).to(at::kBFloat16);
  const at::Tensor images = at::randn({4, 32, 128, 128}).to(at::kBFloat16);
  for (const at::Tensor& x : {rows, rows.t(), rows.flatten(), images,
                              images.contiguous(at::MemoryFormat::ChannelsLast)}) {
    EXPECT_LE(bytes_to_observe(x), static_cast<int64_t>(x.nbytes()) / 20) << x.sizes();
  }
}

TEST(Watching, CountsEveryElementPieceByPiece) {
  const at::Tensor x = at::randn({40, 30, 37, 11}) + at::arange(30).reshape({30, 1, 1});
  session::SiteStatistics statistics;
  statistics.observe(x);
  const solver::WeightSpec weight = statistics.weight();
  double total = 0.0;
  for (const double mass : weight.masses) total += mass;
  EXPECT_NEAR(total, 1.0, 1e-12);
  ASSERT_EQ(weight.units.size(), 30u);
  const at::Tensor means = x.mean({0, 2, 3});
  for (int64_t i = 0; i < 30; ++i) {
    EXPECT_NEAR(weight.units[static_cast<size_t>(i)].mean, means[i].item<double>(), 1e-4);
  }
}

TEST(Watching, NoUnitIsAPoint) {
  session::SiteStatistics statistics;
  for (int step = 0; step < 3; ++step) statistics.observe(at::arange(8).expand({20, 8}));
  for (const solver::UnitSpec& unit : statistics.weight().units) EXPECT_GE(unit.spread, 0.01);
}

TEST(Watching, ManyThreadsWithManyWidthsLoseNothing) {
  constexpr int kThreads = 4, kSteps = 40;
  torch::nn::Sequential model = gelu_model();
  Calibrator calibrator(*model);
  std::vector<std::thread> threads;
  std::atomic<int64_t> elements = 0;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int step = 0; step < kSteps; ++step) {
        const at::Tensor x = at::randn({16, 8 + (i + step) % 5});
        model->forward(x);
        elements += x.numel();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(calibrator.fit().at(0).elements, elements);
}

TEST(Watching, ClonesRunUnwatchedInOtherThreads) {
  torch::nn::Sequential model = gelu_model();
  Calibrator calibrator(*model);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    const auto clone = std::dynamic_pointer_cast<torch::nn::SequentialImpl>(model->clone());
    threads.emplace_back([clone, i] { clone->forward(at::randn({64, 8 + i})); });
  }
  model->forward(at::randn({5, 6}));
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(calibrator.fit().at(0).elements, 30);
}

TEST(Watching, InferenceModeLeavesNoMark) {
  torch::nn::Sequential model = gelu_model();
  Calibrator calibrator(*model);
  {
    const c10::InferenceMode guard;
    model->forward(at::randn({50, 8}));
  }
  EXPECT_NO_THROW(model->forward(at::randn({50, 8}).requires_grad_()));
  {
    const c10::InferenceMode guard;
    EXPECT_EQ(calibrator.fit().at(0).elements, 800);
  }
  EXPECT_NE(first(model).table().name(), "smoothed_normal_b2");
  EXPECT_NO_THROW(model->forward(at::randn({5, 8}).requires_grad_()).sum().backward());
}

TEST(Watching, EndsWithTheCalibrator) {
  torch::nn::Sequential model = gelu_model();
  {
    const Calibrator calibrator(*model);
    EXPECT_TRUE(first(model).observer());
    EXPECT_NE(test::refusal([&] { Calibrator{*model}; }).find("watched already"),
              std::string::npos);
    EXPECT_TRUE(first(model).observer()) << "the first one goes on";
  }
  EXPECT_FALSE(first(model).observer());
}

TEST(Watching, TheModelMayGoFirst) {
  auto model = std::make_unique<torch::nn::Sequential>(gelu_model());
  Calibrator calibrator(**model);
  model.reset();
  EXPECT_NE(test::refusal([&] { calibrator.fit(); }).find("does not live"), std::string::npos);
}

TEST(Fit, TellsTheErrorsOfTheDataBeyondTheUsualRange) {
  at::manual_seed(3);
  const at::Tensor x = at::randn({2000, 16}) * 40;
  const double beta = 0.05;
  nn::SiLU act(nn::SiLUOptions().beta(beta).bits(3));
  const Table before = act->table();
  Calibrator calibrator(*act);
  act->forward(x);
  const Calibrator::Fit fit = calibrator.fit().at(0);
  const auto exact = [&](const at::Tensor& t) { return t * at::sigmoid(beta * t); };
  EXPECT_NEAR(fit.error_before, error_on(x, before, exact), 0.02 * fit.error_before);
  EXPECT_NEAR(fit.error_after, error_on(x, act->table(), exact), 0.02 * fit.error_after);
  EXPECT_LT(fit.error_after, fit.error_before);
}

TEST(Fit, KeepsTheTableWhereTheDerivativeIsConstant) {
  for (const double shift : {-30.0, -9.0, 9.0, 30.0}) {
    torch::nn::Sequential model = gelu_model();
    Calibrator calibrator(*model);
    model->forward(at::randn({500, 8}) * 0.5 + shift);
    const Calibrator::Fit fit = calibrator.fit().at(0);
    EXPECT_NE(fit.note, "") << "gradients of other inputs would be the same everywhere";
    EXPECT_EQ(first(model).table().name(), "smoothed_normal_b2");
  }
}

}  // namespace fewbit::calibrator_watch_test
