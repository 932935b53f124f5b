#pragma once

#include <functional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "examples/models/blocks.hpp"

namespace fewbit::examples {

/// A network with fresh parameters, in training, and one batch.
struct ModelSubject {
  std::vector<at::Tensor> parameters;
  std::vector<std::string> names;    ///< of the parameters
  std::vector<at::Tensor> beside;    ///< what lives anyway: the batch, buffers
  std::function<at::Tensor()> loss;  ///< a forward over the batch: the mean cross entropy, a scalar
  std::function<bool()> end_dropout;  ///< from then on nothing is dropped; whether anything was
  /// How blocks run from then on. Null: the network has none.
  std::function<void(const RunBlock& run)> run_blocks_by;
};

/// What make_model takes. Pictures are 3x224x224 of 1000 classes, with "cifar" 3x32x32 of 10;
/// "bert" reads 512 tokens or the number in its name, for 2 classes, and "gpt" 256.
std::vector<std::string> model_names();

/// The network of that name with `batch` random inputs and targets; the same ones every time.
ModelSubject make_model(const std::string& name, int64_t batch);

}  // namespace fewbit::examples
