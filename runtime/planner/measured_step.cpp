#include "planner/measured_step.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include <ATen/ops/ones_like.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>

#include "fewbit/saved_bytes.hpp"
#include "meter/live_bytes.hpp"

namespace fewbit::session {

namespace {

using torch::autograd::Node;

/// All that the result's gradient ends at.
std::vector<at::Tensor> leaves_of(const at::Tensor& result) {
  std::vector<at::Tensor> leaves;
  std::set<Node*> seen;
  std::vector<Node*> open = {result.grad_fn().get()};
  while (!open.empty()) {
    Node* node = open.back();
    open.pop_back();
    if (node == nullptr || !seen.insert(node).second) continue;
    const auto* end = dynamic_cast<torch::autograd::AccumulateGrad*>(node);
    if (end != nullptr) leaves.push_back(end->variable);
    for (const auto& edge : node->next_edges()) open.push_back(edge.function.get());
  }
  return leaves;
}

}  // namespace

void run_backward(const at::Tensor& result) {
  if (!result.defined() || !result.grad_fn()) return;
  const std::vector<at::Tensor> leaves = leaves_of(result);
  if (!leaves.empty()) torch::autograd::grad({result}, leaves, {at::ones_like(result)});
}

at::Device home_of(const at::Tensor& result) {
  return result.defined() ? result.device() : at::Device(at::kCPU);
}

MeasuredStep measured_step(const char* caller, at::Device device,
                           const std::function<at::Tensor()>& forward) {
  MeasuredStep step;
  const LiveBytes live(caller, device);
  at::Tensor result;
  {
    SavedBytes meter;
    const auto watch = meter.watch();
    result = forward();
    step.kept = meter.unique_bytes();
  }
  step.forward_peak = live.peak();
  run_backward(result);
  step.peak = live.peak();
  return step;
}

MeasuredStep higher(const MeasuredStep& first, const MeasuredStep& second) {
  return {second.kept, std::max(first.forward_peak, second.forward_peak),
          std::max(first.peak, second.peak)};
}

}  // namespace fewbit::session
