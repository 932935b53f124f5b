#include "session/late_run.hpp"

#include <utility>

#include <c10/util/Exception.h>

namespace fewbit::session {

LateRun::LateRun(const at::Tensor& run)
    : run_(run.detach().as_strided({run.numel()}, {1})), version_(run._version()) {}

at::Tensor LateRun::decoded() const {
  std::unique_lock lock(mutex_);
  const auto codes = codes_;
  const at::Tensor run = run_;
  lock.unlock();  // what runs now may have it coded
  if (codes) return codes->decoded();
  TORCH_CHECK(
      run._version() == version_,
      "one of the variables needed for gradient computation has been modified by an inplace "
      "operation: it is at version ",
      run._version(), "; expected version ", version_, " (saved where fewbit had yet to code it)");
  return run.clone();
}

at::TensorList LateRun::tensors() const {
  const std::lock_guard lock(mutex_);
  return codes_ ? codes_->tensors() : at::TensorList(run_);
}

bool LateRun::is_settled() const {
  const std::lock_guard lock(mutex_);
  return is_settled_;
}

void LateRun::settle(std::shared_ptr<const codecs::Encoded> codes) {
  std::function<void()> tell;
  {
    const std::lock_guard lock(mutex_);
    codes_ = std::move(codes);
    is_settled_ = true;
    if (codes_) run_.reset();
    tell = std::exchange(tell_, nullptr);
  }
  if (tell) tell();
}

void LateRun::when_settled(std::function<void()> tell) {
  const std::lock_guard lock(mutex_);
  tell_ = std::move(tell);
}

}  // namespace fewbit::session
