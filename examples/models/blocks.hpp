#pragma once

#include <functional>

#include <ATen/core/Tensor.h>
#include <torch/nn/modules/container/sequential.h>

namespace fewbit::examples {

/// A part that a network repeats: from one tensor to one.
using Block = std::function<at::Tensor(const at::Tensor& x)>;

/// What runs a block, as in a checkpoint; null: the block runs as it is.
using RunBlock = std::function<at::Tensor(const Block& block, const at::Tensor& x)>;

at::Tensor run_block(const Block& block, const at::Tensor& x, const RunBlock& run);

/// One after the other.
at::Tensor run_blocks(torch::nn::Sequential blocks, at::Tensor x, const RunBlock& run);

}  // namespace fewbit::examples
