#include "examples/models/blocks.hpp"

namespace fewbit::examples {

at::Tensor run_block(const Block& block, const at::Tensor& x, const RunBlock& run) {
  return run ? run(block, x) : block(x);
}

at::Tensor run_blocks(torch::nn::Sequential blocks, at::Tensor x, const RunBlock& run) {
  for (torch::nn::AnyModule& module : *blocks) {
    // A copy of the handle, so that a checkpoint holds the module.
    const Block block = [module](const at::Tensor& input) mutable {
      return module.forward<at::Tensor>(input);
    };
    x = run_block(block, x, run);
  }
  return x;
}

}  // namespace fewbit::examples
