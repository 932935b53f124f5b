// Tables for the activations of an unchanged model, told apart by their order in a forward.
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/function.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>

#include "fewbit/fewbit.hpp"

namespace fewbit::calibrator_scope_test {

torch::nn::Sequential model_of() {
  at::manual_seed(4);
  return torch::nn::Sequential(torch::nn::Linear(16, 32), torch::nn::GELU(),
                               torch::nn::Linear(32, 32), torch::nn::ReLU(),
                               torch::nn::Linear(32, 8), torch::nn::SiLU());
}

at::Tensor batch(uint64_t seed) {
  at::manual_seed(seed);
  return at::randn({64, 16}) * 3 + 1;
}

/// A forward and a backward inside a scope; the gradient of the first layer.
at::Tensor step(torch::nn::Sequential& model, Calibrator& calibrator, uint64_t seed = 1) {
  model->zero_grad();
  at::Tensor loss;
  {
    ActivationScope scope({.bits = 2}, calibrator);
    loss = model->forward(batch(seed)).square().sum();
  }
  loss.backward();
  return model->parameters()[0].grad().clone();
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "";
}

void forward_of(Calibrator& calibrator, const std::vector<at::Tensor (*)(const at::Tensor&)>& all) {
  const ActivationScope scope({.bits = 2}, calibrator);
  for (const auto activation : all) activation(at::randn({6, 8}).requires_grad_());
}

at::Tensor gelu_of(const at::Tensor& x) {
  return at::gelu(x);
}

TEST(CalibratorInScopes, FitsEverySiteOfAnUnchangedModel) {
  torch::nn::Sequential model = model_of();
  Calibrator calibrator;
  for (uint64_t seed = 0; seed < 5; ++seed) step(model, calibrator, seed);
  const std::vector<Calibrator::Fit> fits = calibrator.fit();
  ASSERT_EQ(fits.size(), 2u) << "relu is left alone";
  EXPECT_EQ(fits[0].site, "0.gelu");
  EXPECT_EQ(fits[1].site, "1.silu");
  EXPECT_EQ(fits[0].elements, 5 * 64 * 32);
  EXPECT_EQ(fits[1].elements, 5 * 64 * 8);
  for (const Calibrator::Fit& fit : fits) {
    EXPECT_EQ(fit.note, "");
    EXPECT_EQ(fit.bits, 2);
    EXPECT_LT(fit.bias_after, fit.bias_before) << fit.site;
  }
  EXPECT_NE(calibrator.report().find("1.silu"), std::string::npos);
}

TEST(CalibratorInScopes, LowersTheSquaredErrorAboveFourBits) {
  Calibrator calibrator;
  {
    const ActivationScope scope({.bits = 5}, calibrator);
    at::gelu((at::randn({200, 50}) * 0.4 - 0.6).requires_grad_());
  }
  const Calibrator::Fit fit = calibrator.fit().at(0);
  EXPECT_LT(fit.error_after, 0.7 * fit.error_before);
}

TEST(CalibratorInScopes, WatchesWhatModulesOfTheSameModelWouldShow) {
  torch::nn::Sequential plain = model_of();
  torch::nn::Sequential modules(
      plain->ptr<torch::nn::LinearImpl>(0), nn::GELU(nn::GELUOptions().bits(2)),
      plain->ptr<torch::nn::LinearImpl>(2), torch::nn::ReLU(), plain->ptr<torch::nn::LinearImpl>(4),
      nn::SiLU(nn::SiLUOptions().bits(2)));
  Calibrator in_scopes, of_modules(*modules);
  step(plain, in_scopes);
  modules->forward(batch(1));
  const auto one = in_scopes.fit(), other = of_modules.fit();
  ASSERT_EQ(one.size(), other.size());
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].error_before, other[i].error_before);
    EXPECT_EQ(one[i].error_after, other[i].error_after);
    EXPECT_EQ(one[i].bias_after, other[i].bias_after);
  }
}

TEST(CalibratorInScopes, TrainingGoesOnWithTheTables) {
  torch::nn::Sequential model = model_of();
  Calibrator calibrator;
  const at::Tensor before = step(model, calibrator);
  EXPECT_TRUE(at::equal(step(model, calibrator), before)) << "watching changes nothing";
  calibrator.fit();
  const at::Tensor after = step(model, calibrator);
  EXPECT_FALSE(at::equal(after, before));
  EXPECT_EQ(calibrator.fits()[0].elements, 2 * 64 * 32) << "watches until fit() only";

  const std::string folder = testing::TempDir() + "fewbit_scope_tables";
  std::filesystem::remove_all(folder);
  calibrator.save(folder);
  model->zero_grad();
  at::Tensor x = model->ptr(0)->as<torch::nn::Linear>()->forward(batch(1));
  x = activation(x, Table::load(folder + "/0.gelu.json"));
  x = at::relu(model->ptr(2)->as<torch::nn::Linear>()->forward(x));
  x = model->ptr(4)->as<torch::nn::Linear>()->forward(x);
  activation(x, Table::load(folder + "/1.silu.json")).square().sum().backward();
  EXPECT_TRUE(at::equal(model->parameters()[0].grad(), after)) << "each site has its own";

  Calibrator loaded;
  loaded.load(folder);
  EXPECT_TRUE(at::equal(step(model, loaded), after));
  EXPECT_NE(message_of([&] { loaded.fit(); }).find("nothing was watched"), std::string::npos);
}

TEST(CalibratorInScopes, SaysSoWhereTheForwardChanged) {
  Calibrator calibrator;
  forward_of(calibrator, {gelu_of, at::silu});
  EXPECT_NE(message_of([&] {
              forward_of(calibrator, {at::silu, gelu_of});
            }).find("activation 0 of a forward is \"2 silu 1\", was \"2 gelu\""),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              forward_of(calibrator, {gelu_of, at::silu, gelu_of});
            }).find("more than 2 activations"),
            std::string::npos);
  forward_of(calibrator, {gelu_of, at::silu});
  const auto fits = calibrator.fit();
  ASSERT_EQ(fits.size(), 2u) << "what was refused is no site";
  EXPECT_EQ(fits[0].elements, 3 * 48) << "and saw nothing of another function";
  EXPECT_EQ(fits[1].elements, 3 * 48);
  EXPECT_NE(message_of([&] { forward_of(calibrator, {at::silu}); }), "") << "the same after fit()";
  const auto in_three_bits = [&] {
    const ActivationScope scope({.bits = 3}, calibrator);
    at::gelu(at::randn({6, 8}).requires_grad_());
  };
  EXPECT_NE(message_of(in_three_bits).find("is \"3 gelu\", was \"2 gelu\""), std::string::npos);
}

TEST(CalibratorInScopes, SaysSoWhereAForwardEndedEarly) {
  Calibrator calibrator;
  forward_of(calibrator, {gelu_of, at::silu});
  forward_of(calibrator, {gelu_of});
  const auto expected = "a forward had 1 activations, the first one 2";
  EXPECT_NE(message_of([&] { forward_of(calibrator, {gelu_of}); }).find(expected),
            std::string::npos);
  EXPECT_NE(message_of([&] { calibrator.fit(); }).find(expected), std::string::npos);
  EXPECT_EQ(ActivationScope::current(), nullptr);
  EXPECT_EQ(at::gelu(at::randn({3}).requires_grad_()).grad_fn()->name(), "GeluBackward0");
}

TEST(CalibratorInScopes, ForwardsWithoutGradientsAndExceptionsAreNoOtherForwards) {
  Calibrator calibrator;
  forward_of(calibrator, {gelu_of, at::silu});
  {
    const at::NoGradGuard no_grad;
    const ActivationScope scope({.bits = 2}, calibrator);
    at::silu(at::randn({6, 8}));
  }
  try {
    const ActivationScope scope({.bits = 2}, calibrator);
    at::gelu(at::randn({6, 8}).requires_grad_());
    throw std::runtime_error("in the middle");
  } catch (const std::runtime_error&) {
  }
  forward_of(calibrator, {gelu_of, at::silu});
  const auto fits = calibrator.fit();
  EXPECT_EQ(fits[0].elements, 3 * 48);
  EXPECT_EQ(fits[1].elements, 2 * 48);
}

TEST(CalibratorInScopes, ExactSitesKeepTheirNumberInTheFiles) {
  const std::string folder = testing::TempDir() + "fewbit_scope_exact";
  std::filesystem::remove_all(folder);
  const auto leaky = [](const at::Tensor& x) { return at::leaky_relu(x, 0.2); };
  Calibrator calibrator;
  forward_of(calibrator, {leaky, gelu_of});
  EXPECT_EQ(calibrator.fit().at(0).note, "exact");
  calibrator.save(folder);
  EXPECT_FALSE(std::filesystem::exists(folder + "/0.leaky_relu.json"));
  EXPECT_TRUE(std::filesystem::exists(folder + "/1.gelu.json"));
  Calibrator loaded;
  loaded.load(folder);
  forward_of(loaded, {leaky, gelu_of});
  EXPECT_NE(message_of([&] {
              forward_of(loaded, {at::silu, gelu_of});
            }).find("is \"2 silu 1\", was \"1 leaky_relu 0.2\""),
            std::string::npos);
  EXPECT_NE(message_of([&] { Calibrator().load(folder + "/none"); }), "");
  std::ofstream(folder + "/sites.txt") << "2 gelu\n2 silu much\n";
  EXPECT_NE(message_of([&] { Calibrator().load(folder); }).find("much"), std::string::npos);
}

TEST(CalibratorInScopes, OneCalibratorServesSeveralThreads) {
  constexpr int kThreads = 4, kForwards = 20;
  Calibrator calibrator;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int forward = 0; forward < kForwards; ++forward) {
        forward_of(calibrator, {gelu_of, at::silu});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Calibrator::Fit& fit : calibrator.fit()) {
    EXPECT_EQ(fit.elements, kThreads * kForwards * 48) << fit.site;
  }
}

TEST(CalibratorInScopes, TwoKindsOfCalibratorsAreToldApart) {
  torch::nn::Sequential modules(nn::GELU(nn::GELUOptions().bits(2)));
  Calibrator of_modules(*modules), of_nothing;
  EXPECT_NE(message_of([&] { ActivationScope({.bits = 2}, of_modules); }), "");
  EXPECT_EQ(ActivationScope::current(), nullptr);
  EXPECT_NE(message_of([&] { of_modules.load(testing::TempDir()); }), "");
  EXPECT_NE(message_of([&] { of_nothing.fit(); }).find("no scope"), std::string::npos);
}

}  // namespace fewbit::calibrator_scope_test
