#include "fewbit/checkpoint.hpp"

#include <memory>

#include <ATen/core/grad_mode.h>

#include "checkpoint/frame.hpp"

namespace fewbit {

std::vector<at::Tensor> checkpoint_list(
    const std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>& function,
    const std::vector<at::Tensor>& inputs) {
  if (!at::GradMode::is_enabled()) return function(inputs);
  const auto frame = std::make_shared<session::CheckpointFrame>(function);
  const session::SavedTensorUse use(session::kCheckpointOperation, session::slot_maker(frame));
  frame->save_inputs(inputs);
  return frame->run(inputs);
}

at::Tensor checkpoint(const std::function<at::Tensor(const at::Tensor&)>& function,
                      const at::Tensor& input) {
  const auto on_list = [function](const std::vector<at::Tensor>& inputs) {
    return std::vector<at::Tensor>{function(inputs[0])};
  };
  return checkpoint_list(on_list, std::vector<at::Tensor>{input})[0];
}

}  // namespace fewbit
