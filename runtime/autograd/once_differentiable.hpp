#pragma once

#include <string>

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/functions/utils.h>

/// What the gradients of operations share that save codes: they run once, by backward.
namespace fewbit::autograd {

/// Throws c10::Error for forward-mode differentiation, of which codes know nothing.
void refuse_forward_mode(const char* operation, const at::Tensor& x);

/// Whether autograd asks for x's gradient, so that a call has to be recorded.
bool needs_gradient(const at::Tensor& x);

/// The gradient as the tensor lay that it belongs to, by that tensor's strides: codes follow
/// memory, and expanded or permuted gradients are copied. By operations that a batch of gradients
/// goes through, none of them in place.
at::Tensor laid_out(const at::Tensor& gradient, c10::SymIntArrayRef strides);

/// `result` may be used, but whoever differentiates it by `input` gets the error.
void refuse_gradient(const at::Tensor& result, const at::Tensor& input, std::string error);

/// The same for a backward pass that runs now, whose result is differentiated neither by the
/// gradient that it got nor by the input of its node.
void refuse_double_backward(const at::Tensor& result, const at::Tensor& gradient,
                            std::string error);

/// The node of a call with one input and one output, in the making.
template <class Function>
class Recording {
 public:
  explicit Recording(const at::Tensor& x) : node_(new Node(), torch::autograd::deleteNode) {
    node_->set_ctx_grad_fn(node_);
    node_->set_next_edges(torch::autograd::collect_next_edges(x));
    node_->is_variable_input_ = {true};
    node_->input_info_.emplace_back(x);
  }

  template <class Forward>
  auto below(const Forward& forward) const {
    const at::AutoDispatchBelowADInplaceOrView guard;
    return forward(node_->ctx_);
  }
  void give(const at::Tensor& y) const {
    torch::autograd::set_history(y, node_);
    node_->output_info_.emplace_back(y);
  }
  /// Hands over to autograd what `forward` had saved. Once.
  void save() const { node_->save_variables_to_ctx(); }

 private:
  using Node = torch::autograd::CppNode<Function>;
  std::shared_ptr<Node> node_;
};

/// y = forward(context) below autograd, with a node of Function's backward. What
/// torch::autograd::Function::apply does for one input and one output, but also inside the
/// transforms of functorch, which apply refuses for every function in C++: `forward` calls nothing
/// but operations.
template <class Function, class Forward>
at::Tensor recorded(const at::Tensor& x, const Forward& forward) {
  const Recording<Function> recording(x);
  const at::Tensor y = recording.below(forward);
  recording.give(y);
  recording.save();
  return y;
}

/// The same where `save` has all saved that is, before `forward` runs.
template <class Function, class Save, class Forward>
at::Tensor recorded(const at::Tensor& x, const Save& save, const Forward& forward) {
  const Recording<Function> recording(x);
  recording.below(save);
  recording.save();
  const at::Tensor y = recording.below(forward);
  recording.give(y);
  return y;
}

}  // namespace fewbit::autograd
