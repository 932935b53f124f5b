#include "trace/model_parameters.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <typeinfo>
#include <unordered_set>

#include <c10/util/SmallVector.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/variable.h>

#include "trace/running_operations.hpp"

namespace fewbit::session {

namespace {

/// Nodes that give the same numbers in another form.
bool is_view_or_cast(const std::string& node) {
  static const std::unordered_set<std::string_view> names = {"ToCopyBackward0",
                                                             "TBackward0",
                                                             "TransposeBackward0",
                                                             "ViewBackward0",
                                                             "PermuteBackward0",
                                                             "ReshapeAliasBackward0",
                                                             "UnsafeViewBackward0",
                                                             "ExpandBackward0",
                                                             "AliasBackward0",
                                                             "SliceBackward0",
                                                             "SelectBackward0",
                                                             "SplitBackward0",
                                                             "SplitWithSizesBackward0",
                                                             "UnbindBackward0",
                                                             "UnsqueezeBackward0",
                                                             "SqueezeBackward0",
                                                             "SqueezeBackward1",
                                                             "SqueezeBackward2",
                                                             "AsStridedBackward0",
                                                             "UnfoldBackward0",
                                                             "UnsafeSplitBackward0",
                                                             "DiagonalBackward0",
                                                             "UnsafeSplitWithSizesBackward0"};
  return names.contains(node);
}

/// Nodes that write the same numbers of one tensor or of several elsewhere.
bool is_copy(const std::string& node) {
  constexpr std::array<std::string_view, 5> kNames = {"CloneBackward0", "ReshapeCopyBackward0",
                                                      "RepeatBackward0", "CatBackward0",
                                                      "StackBackward0"};
  return std::ranges::find(kNames, node) != kNames.end();
}

bool shows_another(const torch::autograd::Node& node) {
  return is_view_or_cast(node.name()) && node.num_outputs() == 1;
}

/// The node, where it is the end of the graph; null: it is none.
const torch::autograd::AccumulateGrad* end_at(const torch::autograd::Node* node) {
  using End = torch::autograd::AccumulateGrad;
  // Of no class below that one: a comparison of types is a small part of a dynamic cast.
  return node != nullptr && typeid(*node) == typeid(End) ? static_cast<const End*>(node) : nullptr;
}

/// The end of the graph that the node is, or leads to by views and casts; null: none.
const torch::autograd::AccumulateGrad* parameter_at(const torch::autograd::Node* node) {
  while (node != nullptr && shows_another(*node)) node = node->next_edge(0).function.get();
  return end_at(node);
}

}  // namespace

bool is_made_of_parameters(const at::Tensor& tensor) {
  constexpr size_t kManyNodes = 4096;
  c10::SmallVector<const torch::autograd::Node*, 8> open = {
      torch::autograd::impl::grad_fn_unsafe(tensor)};
  for (size_t seen = 0; !open.empty(); ++seen) {
    const torch::autograd::Node* const node = open.back();
    open.pop_back();
    if (end_at(node) != nullptr) continue;
    if (node == nullptr || seen == kManyNodes) return false;
    const std::string name = node->name();
    if (!is_view_or_cast(name) && !is_copy(name)) return false;
    for (const torch::autograd::Edge& edge : node->next_edges()) {
      open.push_back(edge.function.get());
    }
  }
  return true;
}

bool is_of_parameter(const at::Tensor& tensor) {
  return parameter_at(torch::autograd::impl::grad_fn_unsafe(tensor)) != nullptr;
}

Addresses parameters_of_maker(const at::Tensor& tensor) {
  const torch::autograd::Node* maker = torch::autograd::impl::grad_fn_unsafe(tensor);
  while (maker != nullptr && shows_another(*maker)) maker = maker->next_edge(0).function.get();
  Addresses addresses;
  if (maker == nullptr) return addresses;
  for (const torch::autograd::Edge& edge : maker->next_edges()) {
    const torch::autograd::AccumulateGrad* end = parameter_at(edge.function.get());
    if (end != nullptr) addresses.push_back(address_of(end->variable));
  }
  return addresses;
}

bool is_of_model(const at::Tensor& tensor) {
  return (tensor.is_leaf() && tensor.requires_grad()) || is_of_parameter(tensor);
}

}  // namespace fewbit::session
