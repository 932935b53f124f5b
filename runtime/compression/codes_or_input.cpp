#include "compression/codes_or_input.hpp"

#include <utility>

namespace fewbit::session {

namespace {

class KeptCodesOrInput final : public ChangingTensor {
 public:
  explicit KeptCodesOrInput(std::shared_ptr<CodesOrInput> state) : state_(std::move(state)) {}
  at::Tensor restored() const override { return state_->restored(); }
  at::TensorList tensors() const override { return state_->tensors(); }
  bool is_settled() const override { return state_->is_settled(); }
  void when_changed(const std::function<void()>& tell) const override {
    state_->when_changed(tell);
  }

 private:
  std::shared_ptr<CodesOrInput> state_;
};

}  // namespace

at::Tensor CodesOrInput::restored() const {
  const std::lock_guard lock(mutex_);
  return kept_->restored();
}

bool CodesOrInput::holds_input() const {
  const std::lock_guard lock(mutex_);
  return holds_input_;
}

at::TensorList CodesOrInput::tensors() const {
  const std::lock_guard lock(mutex_);
  return kept_->tensors();
}

bool CodesOrInput::is_settled() const {
  const std::lock_guard lock(mutex_);
  return session::is_settled(*kept_);
}

void CodesOrInput::hold(const at::Tensor& input) {
  std::unique_ptr<const PackedTensor> kept = kept_unchanged(input);
  std::unique_lock lock(mutex_);
  kept_.swap(kept);
  holds_input_ = true;
  const auto tell = std::exchange(tell_, nullptr);
  lock.unlock();
  if (tell) tell();
}

void CodesOrInput::when_changed(const std::function<void()>& tell) {
  const std::lock_guard lock(mutex_);
  session::when_changed(*kept_, tell);
  tell_ = tell;
}

void CodesOrInput::forget_listeners() {
  std::function<void()> forgotten;  // freed without the lock
  const std::lock_guard lock(mutex_);
  forgotten.swap(tell_);
}

std::unique_ptr<const PackedTensor> kept_in(std::shared_ptr<CodesOrInput> state) {
  return std::make_unique<KeptCodesOrInput>(std::move(state));
}

}  // namespace fewbit::session
