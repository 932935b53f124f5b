#include "trace/backward_pass.hpp"

#include <torch/csrc/autograd/function.h>

namespace fewbit::session {

namespace {

/// Whose gradient waits for a forward that runs again; of a backward pass inside of that the nodes
/// are others.
thread_local const torch::autograd::Node* waiting = nullptr;

}  // namespace

bool is_in_backward() {
  return torch::autograd::get_current_node().get() != waiting;
}

ForwardAgain::ForwardAgain() : before_(waiting) {
  waiting = torch::autograd::get_current_node().get();
}

ForwardAgain::~ForwardAgain() {
  waiting = before_;
}

}  // namespace fewbit::session
