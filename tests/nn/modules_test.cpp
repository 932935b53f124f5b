#include <sstream>
#include <thread>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/serialize.h>

#include "fewbit/fewbit.hpp"

namespace fewbit::modules_test {

/// Values and, over all inputs, gradients of ours stay near torch's.
template <class Ours, class Theirs>
void expect_near(Ours ours, Theirs theirs, double gradient_tolerance) {
  at::manual_seed(5);
  at::Tensor x = at::randn({4000}).requires_grad_();
  at::Tensor exact = x.detach().clone().requires_grad_();
  const at::Tensor y = ours(x);
  const at::Tensor y_exact = theirs(exact);
  EXPECT_TRUE(at::allclose(y, y_exact, 2e-6, 2e-6)) << ours;
  y.sum().backward();
  y_exact.sum().backward();
  const double rms = (x.grad() - exact.grad()).square().mean().sqrt().template item<double>();
  EXPECT_LE(rms, gradient_tolerance) << ours;
}

template <class Holder>
std::string printed(const Holder& module) {
  std::ostringstream text;
  text << module;
  return text.str();
}

TEST(Modules, ComputeWhatTorchsModulesOfTheirNameCompute) {
  namespace ours = fewbit::nn;
  namespace theirs = torch::nn;
  const double near = 0.04;  // of 4-bit tables
  expect_near(ours::CELU(ours::CELUOptions().alpha(1.5).bits(4)),
              theirs::CELU(theirs::CELUOptions().alpha(1.5)), near);
  expect_near(ours::ELU(ours::ELUOptions().alpha(0.5).bits(4)),
              theirs::ELU(theirs::ELUOptions().alpha(0.5)), near);
  expect_near(ours::GELU(ours::GELUOptions().bits(4)), theirs::GELU(), near);
  expect_near(ours::GELU(ours::GELUOptions().bits(4).approximate("tanh")),
              theirs::GELU(theirs::GELUOptions().approximate("tanh")), near);
  expect_near(ours::LogSigmoid(ours::LogSigmoidOptions().bits(4)), theirs::LogSigmoid(), near);
  expect_near(ours::Mish(ours::MishOptions().bits(4)), theirs::Mish(), near);
  expect_near(ours::SELU(ours::SELUOptions().bits(4)), theirs::SELU(), near);
  expect_near(ours::SiLU(ours::SiLUOptions().bits(4)), theirs::SiLU(), near);
  expect_near(ours::Sigmoid(ours::SigmoidOptions().bits(4)), theirs::Sigmoid(), near);
  expect_near(ours::Softplus(ours::SoftplusOptions().beta(2).bits(4)),
              theirs::Softplus(theirs::SoftplusOptions().beta(2)), near);
  expect_near(ours::Softsign(ours::SoftsignOptions().bits(4)), theirs::Softsign(), near);
  expect_near(ours::Tanh(ours::TanhOptions().bits(4)), theirs::Tanh(), near);
  expect_near(ours::Tanhshrink(ours::TanhshrinkOptions().bits(4)), theirs::Tanhshrink(), near);
}

TEST(Modules, OfStepFunctionsAreExactInOneBit) {
  namespace ours = fewbit::nn;
  namespace theirs = torch::nn;
  expect_near(ours::Hardshrink(), theirs::Hardshrink(), 0);
  expect_near(ours::Hardtanh(ours::HardtanhOptions().min_val(-0.5).max_val(2)),
              theirs::Hardtanh(theirs::HardtanhOptions().min_val(-0.5).max_val(2)), 0);
  expect_near(ours::LeakyReLU(ours::LeakyReLUOptions().negative_slope(0.25)),
              theirs::LeakyReLU(theirs::LeakyReLUOptions().negative_slope(0.25)), 0);
  expect_near(ours::ReLU(), theirs::ReLU(), 0);
  expect_near(ours::ReLU6(), theirs::ReLU6(), 0);
  expect_near(ours::Softshrink(ours::SoftshrinkOptions().lambda(0.75)),
              theirs::Softshrink(theirs::SoftshrinkOptions(0.75)), 0);
  expect_near(ours::Threshold(ours::ThresholdOptions(0.5, -1)),
              theirs::Threshold(theirs::ThresholdOptions(0.5, -1)), 0);
  EXPECT_EQ(ours::ReLU()->table().bits(), 1);
}

TEST(Modules, PrintNameParametersBitsAndTable) {
  EXPECT_EQ(printed(nn::ELU(nn::ELUOptions().alpha(0.5).bits(2))),
            "fewbit::nn::ELU(alpha=0.5, bits=2, table=smoothed_normal_b2)");
  EXPECT_EQ(printed(nn::ReLU()), "fewbit::nn::ReLU(bits=1, table=levels_uniform_b1)");
}

TEST(Modules, ACloneIsNotObserved) {
  struct Counter : nn::InputObserver {
    int calls = 0;
    void observe(const at::Tensor&) override { ++calls; }
  };
  const auto counter = std::make_shared<Counter>();
  nn::GELU act;
  act->set_observer(counter);
  std::dynamic_pointer_cast<nn::GELUImpl>(act->clone())->forward(at::ones({2}));
  EXPECT_EQ(counter->calls, 0);
  act->forward(at::ones({2}));
  EXPECT_EQ(counter->calls, 1);
}

TEST(Modules, OneModuleRunsInManyThreadsWhileItChanges) {
  nn::GELU act;
  const Table other = Table::builtin("gelu", "levels_mixture_b2");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        act->forward(at::randn({64}).requires_grad_()).sum().backward();
      }
    });
  }
  for (int round = 0; round < 50; ++round) act->set_table(other);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(act->table().name(), other.name());
}

TEST(Modules, RefuseATableOfAnotherFunction) {
  const Table silu = Table::standard("silu", Bits{3});
  EXPECT_THROW(nn::GELU(nn::GELUOptions().table(silu)), c10::Error);
  EXPECT_THROW(nn::ELU(nn::ELUOptions().alpha(0.5).table(Table::standard("elu", Bits{3}))),
               c10::Error);
  EXPECT_THROW(nn::GELU()->set_table(silu), c10::Error);
}

TEST(Modules, TakeASavedTable) {
  const Table solved = Table::standard("elu", Bits{3}, {0.7});
  const std::string path = testing::TempDir() + "fewbit_elu_table.json";
  solved.save(path);
  const Table loaded = Table::load(path);
  EXPECT_EQ(loaded.data().levels, solved.data().levels);
  EXPECT_EQ(loaded.data().thresholds, solved.data().thresholds);
  nn::ELU act(nn::ELUOptions().alpha(0.7).table(loaded));
  EXPECT_EQ(act->table().parameters(), std::vector<double>{0.7});
  EXPECT_THROW(Table::standard("gelu", Bits{3}).save(path), c10::Error);
  EXPECT_THROW(Table::load(path + ".none"), c10::Error);
}

}  // namespace fewbit::modules_test
