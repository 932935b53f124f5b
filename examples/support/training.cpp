#include "examples/support/training.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/nextafter.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/where.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <torch/optim/adam.h>
#include <torch/optim/sgd.h>

namespace fewbit::examples {

std::unique_ptr<torch::optim::Optimizer> make_optimizer(const std::vector<at::Tensor>& parameters,
                                                        const Recipe& recipe) {
  if (recipe.optimizer == "adam") {
    return std::make_unique<torch::optim::Adam>(parameters, torch::optim::AdamOptions(recipe.rate));
  }
  TORCH_CHECK(recipe.optimizer == "sgd", "train: optimizer adam or sgd, not ", recipe.optimizer);
  return std::make_unique<torch::optim::SGD>(parameters,
                                             torch::optim::SGDOptions(recipe.rate).momentum(0.9));
}

double train_step(torch::optim::Optimizer& optimizer, const std::function<at::Tensor()>& loss) {
  optimizer.zero_grad();
  const at::Tensor value = loss();
  value.backward();
  optimizer.step();
  return value.item<double>();
}

void nudge(const std::vector<at::Tensor>& parameters, uint64_t seed) {
  const c10::NoGradGuard no_gradient;
  const at::Generator generator = at::detail::createCPUGenerator(seed);
  for (const at::Tensor& parameter : parameters) {
    const at::Tensor up = at::full_like(parameter, INFINITY);
    const at::Tensor is_up = at::rand(parameter.sizes(), generator, parameter.options()) < 0.5;
    parameter.copy_(at::nextafter(parameter, at::where(is_up, up, -up)));
  }
}

std::vector<double> train(const std::vector<at::Tensor>& parameters, const BatchLoss& loss,
                          const Activate& activate, const Recipe& recipe) {
  const auto optimizer = make_optimizer(parameters, recipe);
  std::vector<double> losses;
  for (int64_t step = 0; step < recipe.steps; ++step) {
    losses.push_back(train_step(*optimizer, [&] { return loss(step, activate); }));
  }
  return losses;
}

std::unique_ptr<ActivationScope> Calibration::scope(int64_t step) {
  const ActivationScopeOptions options{.bits = bits_};
  if (step < kWatchFrom) return std::make_unique<ActivationScope>(options);
  if (step >= kFitAt && calibrator_.fits().empty()) calibrator_.fit();
  return std::make_unique<ActivationScope>(options, calibrator_);
}

BatchLoss Calibration::around(BatchLoss loss) {
  return [this, loss = std::move(loss)](int64_t step, const Activate& activate) {
    const auto inside = scope(step);
    return loss(step, activate);
  };
}

double percent_right(const at::Tensor& scores, const at::Tensor& targets) {
  return 100.0 * scores.argmax(-1).eq(targets).to(at::kDouble).mean().item<double>();
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation(const std::vector<double>& values) {
  if (values.size() < 2) return 0.0;
  const double centre = mean(values);
  double sum = 0.0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

double tail_mean(const std::vector<double>& values, size_t count) {
  const size_t taken = std::min(count, values.size());
  return mean({values.end() - static_cast<std::ptrdiff_t>(taken), values.end()});
}

}  // namespace fewbit::examples
