#include "bench/codecs/layers.hpp"

#include <algorithm>
#include <set>

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/generated/Functions.h>

#include "ops/layout.hpp"

namespace fewbit::bench {

namespace {

using torch::autograd::Node;
using torch::autograd::variable_list;
namespace generated = torch::autograd::generated;

/// Remembers the gradient that arrives at a node.
class Catcher final : public torch::autograd::FunctionPreHook {
 public:
  explicit Catcher(at::Tensor& caught) : caught_(caught) {}
  variable_list operator()(const variable_list& gradients) override {
    caught_ = gradients[0].detach().clone();
    return gradients;
  }

 private:
  at::Tensor& caught_;
};

std::vector<Node*> nodes_of(const at::Tensor& loss) {
  std::vector<Node*> nodes{loss.grad_fn().get()};
  std::set<Node*> met(nodes.begin(), nodes.end());
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const auto& edge : nodes[i]->next_edges()) {
      if (edge.function && met.insert(edge.function.get()).second) {
        nodes.push_back(edge.function.get());
      }
    }
  }
  return nodes;
}

/// The number of the parameter that an edge leads to, or to whose transpose; that of all of them
/// where it is none.
size_t parameter_at(const Node& node, size_t edge, const std::vector<at::Tensor>& parameters) {
  const Node* at = node.next_edge(edge).function.get();
  if (at != nullptr && at->name() == "TBackward0") at = at->next_edge(0).function.get();
  const auto* leaf = dynamic_cast<const torch::autograd::AccumulateGrad*>(at);
  if (leaf == nullptr) return parameters.size();
  const auto found = std::ranges::find_if(
      parameters, [&](const at::Tensor& one) { return one.is_same(leaf->variable); });
  return static_cast<size_t>(found - parameters.begin());
}

bool has_gradient(const Node& node, size_t edge) {
  return node.next_edge(edge).is_valid();
}

std::vector<int64_t> numbers(const std::vector<c10::SymInt>& sizes) {
  std::vector<int64_t> result;
  for (const c10::SymInt& size : sizes) result.push_back(size.expect_int());
  return result;
}

at::Tensor product(const at::Tensor& x, const at::Tensor& weight) {
  return at::mm(x, weight);
}

/// Without dy; of no layer: a parameter beyond all.
Layer layer_at(Node& node, const std::vector<at::Tensor>& parameters) {
  const size_t none = parameters.size();
  if (auto* mm = dynamic_cast<generated::MmBackward0*>(&node)) {
    const size_t weight = parameter_at(node, 1, parameters);
    if (weight == none || !has_gradient(node, 0)) return {none, {}, {}, {}, {}};
    return {weight, mm->self_.unpack(), mm->mat2_.unpack(), {}, product};
  }
  if (auto* addmm = dynamic_cast<generated::AddmmBackward0*>(&node)) {
    const size_t weight = parameter_at(node, 2, parameters);
    if (weight == none || !has_gradient(node, 1)) return {none, {}, {}, {}, {}};
    return {weight, addmm->mat1_.unpack(), addmm->mat2_.unpack(), {}, product};
  }
  if (auto* convolution = dynamic_cast<generated::ConvolutionBackward0*>(&node)) {
    const size_t weight = parameter_at(node, 1, parameters);
    if (weight == none || !has_gradient(node, 0)) return {none, {}, {}, {}, {}};
    const auto y = [stride = numbers(convolution->stride), padding = numbers(convolution->padding),
                    dilation = numbers(convolution->dilation),
                    groups = convolution->groups.expect_int()](const at::Tensor& x,
                                                               const at::Tensor& w) {
      return at::conv2d(x, w, {}, stride, padding, dilation, groups);
    };
    return {weight, convolution->input_.unpack(), convolution->weight_.unpack(), {}, y};
  }
  return {none, {}, {}, {}, {}};
}

}  // namespace

std::vector<Layer> layers_of(const at::Tensor& loss, const std::vector<at::Tensor>& parameters) {
  const std::vector<Node*> nodes = nodes_of(loss);
  std::vector<Layer> layers;
  layers.reserve(nodes.size());  // hooks refer to them
  for (Node* node : nodes) {
    Layer layer = layer_at(*node, parameters);
    if (layer.parameter == parameters.size()) continue;
    layer.x = layer.x.detach();
    layer.weight = layer.weight.detach();
    layers.push_back(std::move(layer));
    node->add_pre_hook(std::make_unique<Catcher>(layers.back().dy));
  }
  torch::autograd::grad({loss}, parameters);
  std::ranges::sort(layers, {}, &Layer::parameter);
  return layers;
}

at::Tensor influence(const Layer& layer) {
  const at::Tensor x = layer.x.to(at::kDouble).requires_grad_();
  const at::Tensor ones = at::ones_like(layer.weight, at::kDouble);
  const at::Tensor dy = layer.dy.to(at::kDouble);
  return torch::autograd::grad({layer.y(x, ones)}, {x}, {dy.square()})[0];
}

double noise_of(const Layer& layer, const at::Tensor& variance) {
  const at::Tensor dense = ops::dense(layer.x);
  const at::Tensor by_element =
      variance.reshape({-1}).narrow(0, 0, dense.numel()).as_strided(dense.sizes(), dense.strides());
  return at::sum(influence(layer) * by_element).item<double>();
}

}  // namespace fewbit::bench
