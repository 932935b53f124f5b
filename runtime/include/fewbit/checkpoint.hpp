#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

namespace fewbit {

/// function(input), of which autograd keeps the input alone; backward runs the function again:
///
///   for (auto& block : blocks) x = fewbit::checkpoint(block, x);
///   fewbit::checkpoint([&](const at::Tensor& x) { return block->forward(x, mask); }, x);
///
/// Activation checkpointing (Chen, Xu, Zhang and Guestrin, Training deep nets with sublinear memory
/// cost, 2016). A chain of n layers in sqrt(n) checkpoints keeps of the order of sqrt(n) layers at
/// the cost of a second forward. The function may be anything that makes a tensor of any shape, as
/// a module's holder or a lambda; values and gradients are those of a plain call, and gradients
/// also reach what the function holds beside its input. Checkpoints nest: then the inner function
/// runs once more for each one around it.
///
/// What is kept until backward: the input, the function with all that it holds, parameters that are
/// saved with their views and casts, and the states of torch's default generators where numbers
/// were drawn. In a CompressionScope the input is coded as place "fewbit::checkpoint" of the model,
/// with bits as queries and keys of attention, once the function has ended and a layer has taken
/// it. It stays exact where a logarithm, a root, an exponential, a sine, a quotient or a maximum
/// takes it before any layer (compressor.hpp), and where the function chooses by its numbers (topk,
/// sort, median, comparisons, rounding, draws, integers that libtorch makes of them; not seen is
/// what the function reads by data_ptr), which would choose otherwise on a decoded one. Inside of
/// the function nothing is coded, by no scope around it or in it, so that gradients are the
/// function's own at the decoded input: those of a relu, a clamp or the greatest or the nearest of
/// many flip where two numbers are near each other, and what is steep behind a layer, as 1 /
/// (|mm(x, w)| + .01), turns a small error of the input into a large one. Activations run in the
/// function as in the innermost scope, and run so again when that is gone or its bits have changed.
///
/// The function runs again in the thread that runs backward, up to the last tensor that it saved,
/// when the first of them is asked for; a tensor is held until its operation has taken it, at most
/// until the end of that backward pass. Several passes with a retained graph run it once each.
/// Restored meanwhile and put back: torch's default generators of the CPU and of the CUDA devices
/// of the inputs, autocast, gradient mode. Graphs of higher order are made as without.
///
/// Scripts run without torch's optimiser both times, which would change what they save.
///
/// The function has to do the same every time; what it holds by reference has to live as long as
/// the graph. Buffers are written twice: running means and variances of a batch norm move twice as
/// far. Random numbers are the same only if no other thread draws from those generators while it
/// runs again; numbers of generators of one's own are not. Changes through data() or set_data(),
/// or of what asks for no gradient but is no input, are not seen. More saved tensors than the first
/// time are not seen, since it is stopped by then.
///
/// Throws c10::Error
/// - here, as SavedBytes::watch() does where the process runs another engine than libtorch's or
///   saved-tensor hooks are disabled, and where the function changes an input in place;
/// - in backward, where an input (unless it was coded) or a parameter was changed in place since
///   the forward, or where the function saves fewer or other tensors, by operation, shape, type or
///   device, or other activations run.
///
/// What the function throws passes through. Without gradient mode it is called and no more.
at::Tensor checkpoint(const std::function<at::Tensor(const at::Tensor&)>& function,
                      const at::Tensor& input);

/// The same of several tensors; undefined ones stay undefined.
std::vector<at::Tensor> checkpoint_list(
    const std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>& function,
    const std::vector<at::Tensor>& inputs);

/// function(input, ...).
template <class Function, class... Tensors>
requires(sizeof...(Tensors) > 1 &&
         (std::convertible_to<const Tensors&, at::Tensor> && ...)) at::Tensor
    checkpoint(Function function, const Tensors&... inputs) {
  const auto on_list = [function](const std::vector<at::Tensor>& given) mutable {
    return [&]<size_t... i>(std::index_sequence<i...> /*indices*/) {
      return std::vector<at::Tensor>{function(given[i]...)};
    }
    (std::index_sequence_for<Tensors...>());
  };
  return checkpoint_list(on_list, std::vector<at::Tensor>{inputs...})[0];
}

}  // namespace fewbit
