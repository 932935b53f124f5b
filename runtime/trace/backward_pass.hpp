#pragma once

namespace torch::autograd {
struct Node;
}

namespace fewbit::session {

/// Whether the calling thread computes gradients: but for a forward that is run again meanwhile.
bool is_in_backward();

/// A forward that is run again, in the thread and for the life of this.
class ForwardAgain {
 public:
  ForwardAgain();
  ~ForwardAgain();
  ForwardAgain(const ForwardAgain&) = delete;
  ForwardAgain& operator=(const ForwardAgain&) = delete;

 private:
  const torch::autograd::Node* before_;
};

}  // namespace fewbit::session
