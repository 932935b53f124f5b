#pragma once

#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace fewbit::bench {

/// What operations of one kind save in a forward of a trained model: a flat float run, in equal
/// parts from all layers.
struct SavedRun {
  std::string model;
  std::string kind;  ///< "norm's input"
  at::Tensor run;
  at::Tensor map = {};  ///< where they are maps of channels, the first one, [N, C, H, W]
};

/// Of the examples' models after `steps` steps of training.
std::vector<SavedRun> saved_runs(const std::vector<std::string>& models, int64_t steps);

/// "transformer", "cnn", "cnn, ReLU" and "encoder".
std::vector<std::string> models_of_runs();

}  // namespace fewbit::bench
