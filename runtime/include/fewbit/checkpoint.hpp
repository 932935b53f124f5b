#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

namespace fewbit {

/// Calls function(input) so that autograd saves the input alone. Backward calls the function a
/// second time and uses what that run saves (activation checkpointing).
///
/// ```cpp
/// for (auto& block : blocks) x = fewbit::checkpoint(block, x);
/// ```
///
/// function: takes a tensor and returns one of any shape; a module's holder or a lambda, for
/// example. It has to do the same in both runs. What it holds by reference has to live as long as
/// the graph.
///
/// Returns what a plain call returns, with its gradients. These also reach what the function holds
/// besides its input. Graphs of higher order are built as without a checkpoint. Without gradient
/// mode this is a plain call.
///
/// Costs a second forward of the function. A chain of n layers in sqrt(n) checkpoints saves on the
/// order of sqrt(n) layers. Checkpoints nest: an inner function runs once more for each checkpoint
/// around it.
///
/// **In memory until backward**
/// - The input, and the function with all that it holds.
/// - Parameters that the function saves, with their views and casts.
/// - The states of torch's default generators, where the function drew random numbers.
///
/// **In backward**
/// - The function runs in the thread that runs backward, when the first of its saved tensors is
///   needed. It stops at the last one that is needed.
/// - A recomputed tensor is held until its operation has taken it, at most until the end of that
///   backward pass. Several passes over a retained graph run the function once each.
/// - Autocast, gradient mode and torch's default generators (of the CPU, and of the CUDA devices of
///   the inputs) are as in the forward. Afterwards they are as before.
/// - TorchScript runs without torch's optimiser both times: an optimised script would save other
///   tensors.
///
/// **In a CompressionScope**
/// - The input is a site of the operation "fewbit::checkpoint", with as many bits as queries and
///   keys of attention. It is coded once the function has ended and a layer has taken it.
/// - It stays exact where a logarithm, a root, an exponential, a sine, a quotient or a maximum
///   takes it before any layer does (compressor.hpp).
/// - It stays exact where the function chooses by its numbers: topk, sort, median, comparisons,
///   rounding, draws, integers that libtorch makes of them. A decoded input might choose otherwise.
///   What the function reads through data_ptr is not detected.
/// - Nothing inside the function is coded, by any scope around it or in it. Gradients are the
///   function's own at the decoded input.
/// - Where two numbers are close, gradients may flip: those of a relu, a clamp, and the largest or
///   nearest of many. What is steep behind a layer, as 1 / (|mm(x, w)| + .01), turns a small error
///   of the input into a large one.
/// - Activations in the function run as in the innermost scope of the forward. In backward they do
///   so too, even if that scope is gone or its bits have changed.
///
/// **Limits**
/// - Buffers are written twice: running means and variances of a batch norm move twice as far.
/// - Random numbers are the same only if no other thread draws from these generators during the
///   second run. Numbers of the caller's own generators differ.
/// - Changes through data() or set_data() are not detected, nor changes of a tensor that requires
///   no gradient and is no input.
/// - More saved tensors than in the forward are not detected: the second run has stopped by then.
///
/// Throws c10::Error
/// - in the forward, where SavedBytes::watch() does: of another autograd engine, and where hooks on
///   saved tensors are disabled;
/// - in the forward, where the function changes an input in place;
/// - in backward, where a parameter, or an input that is not coded, was changed in place since the
///   forward;
/// - in backward, where the function saves fewer or other tensors (by operation, shape, type or
///   device), or calls other activations.
///
/// What the function throws passes through.
///
/// Source: Chen, Xu, Zhang and Guestrin, Training deep nets with sublinear memory cost, 2016.
at::Tensor checkpoint(const std::function<at::Tensor(const at::Tensor&)>& function,
                      const at::Tensor& input);

/// Checkpoints a function of several tensors with several results. Undefined tensors stay
/// undefined.
///
/// ```cpp
/// const auto halves = fewbit::checkpoint_list(
///     [&](const std::vector<at::Tensor>& inputs) {
///       return blocks[0](inputs[0] * inputs[1]).chunk(2, 1);
///     },
///     {x, mask});
/// ```
std::vector<at::Tensor> checkpoint_list(
    const std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>& function,
    const std::vector<at::Tensor>& inputs);

/// Checkpoints a function of several tensors: function(input, ...).
///
/// ```cpp
/// x = fewbit::checkpoint(
///     [&](const at::Tensor& x, const at::Tensor& mask) { return blocks[0](x * mask); }, x, mask);
/// ```
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
