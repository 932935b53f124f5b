#include "autograd/once_differentiable.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/functions/basic_ops.h>

namespace fewbit::autograd {

namespace {

bool has_strides(const at::Tensor& tensor, c10::SymIntArrayRef strides) {
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
    if (tensor.sym_size(dim) > 1 && tensor.sym_stride(dim) != strides[static_cast<size_t>(dim)]) {
      return false;
    }
  }
  return true;
}

void set_error(const at::Tensor& result, std::string error, torch::autograd::edge_list edges) {
  torch::autograd::set_history(
      result, std::make_shared<torch::autograd::Error>(std::move(error), std::move(edges)));
}

}  // namespace

void refuse_forward_mode(const char* operation, const at::Tensor& x) {
  TORCH_CHECK(!x._fw_grad(0).defined(), operation,
              ": forward-mode differentiation is not possible; use torch's own operation there");
}

bool needs_gradient(const at::Tensor& x) {
  return at::GradMode::is_enabled() && x.requires_grad();
}

at::Tensor laid_out(const at::Tensor& gradient, c10::SymIntArrayRef strides) {
  if (has_strides(gradient, strides)) return gradient;
  std::vector<int64_t> order(strides.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int64_t one, int64_t other) {
    return strides[static_cast<size_t>(one)] > strides[static_cast<size_t>(other)];
  });
  std::vector<int64_t> back(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  return gradient.permute(order).contiguous().permute(back);
}

void refuse_gradient(const at::Tensor& result, const at::Tensor& input, std::string error) {
  if (!torch::autograd::compute_requires_grad(input)) return;
  set_error(result, std::move(error), torch::autograd::collect_next_edges(input));
}

void refuse_double_backward(const at::Tensor& result, const at::Tensor& gradient,
                            std::string error) {
  torch::autograd::edge_list edges = torch::autograd::collect_next_edges(gradient);
  if (const auto node = torch::autograd::get_current_node()) edges.push_back(node->next_edge(0));
  set_error(result, std::move(error), std::move(edges));
}

}  // namespace fewbit::autograd
