#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <torch/optim/optimizer.h>

#include "examples/support/activate.hpp"
#include "fewbit/activation_scope.hpp"
#include "fewbit/calibrator.hpp"

namespace fewbit::examples {

/// The loss of batch number `step`, the activation as given. The same number has to mean the same
/// batch, so that runs can be compared pair by pair.
using BatchLoss = std::function<at::Tensor(int64_t step, const Activate& activate)>;

struct Recipe {
  std::string optimizer = "adam";  ///< or "sgd", with momentum 0.9
  double rate = 1e-3;
  int64_t steps = 500;
};

std::unique_ptr<torch::optim::Optimizer> make_optimizer(const std::vector<at::Tensor>& parameters,
                                                        const Recipe& recipe);

/// Forward, backward and the optimizer's step; the loss.
double train_step(torch::optim::Optimizer& optimizer, const std::function<at::Tensor()>& loss);

/// Moves every parameter to a neighbouring number of its type, up or down by chance. Two trainings
/// that differ by nothing else tell how far apart rounding alone brings them.
void nudge(const std::vector<at::Tensor>& parameters, uint64_t seed);

/// Trains the parameters in place; the loss of every step.
std::vector<double> train(const std::vector<at::Tensor>& parameters, const BatchLoss& loss,
                          const Activate& activate, const Recipe& recipe);

/// Training of a model that calls torch's own activations with tables fitted to it on the way:
/// every step in a scope of its own, by default tables at first, watched from step kWatchFrom on,
/// fitted before step kFitAt.
class Calibration {
 public:
  static constexpr int64_t kWatchFrom = 50, kFitAt = 100;

  explicit Calibration(int bits) : bits_(bits) {}

  /// The same loss in such scopes. Refers to this.
  BatchLoss around(BatchLoss loss);
  /// A scope with the tables as they are.
  std::unique_ptr<ActivationScope> scope(int64_t step);
  const std::vector<Calibrator::Fit>& fits() const { return calibrator_.fits(); }

 private:
  int bits_;
  Calibrator calibrator_;
};

/// Of the rows of scores [..., classes] how many are highest where targets [...] say, in per cent.
double percent_right(const at::Tensor& scores, const at::Tensor& targets);

double mean(const std::vector<double>& values);
/// The spread of the values: n - 1 in the denominator; 0 for a single one.
double deviation(const std::vector<double>& values);
/// Mean of the last `count` values.
double tail_mean(const std::vector<double>& values, size_t count);

}  // namespace fewbit::examples
