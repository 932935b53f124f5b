#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include <ATen/core/Tensor.h>

namespace fewbit::nn {

/// Sees what goes into a module.
class InputObserver {
 public:
  virtual ~InputObserver() = default;
  /// x is detached; it may not be changed. Called by every thread that runs the module, also at
  /// once.
  virtual void observe(const at::Tensor& x) = 0;
};

/// A module whose inputs can be watched. Nobody observes a copy. The observer may change while
/// other threads run the module.
class Observed {
 public:
  /// Shows every input from now on; null ends that.
  void set_observer(std::shared_ptr<InputObserver> observer) {
    const std::lock_guard lock(mutex_);
    observer_ = std::move(observer);
  }
  std::shared_ptr<InputObserver> observer() const {
    const std::lock_guard lock(mutex_);
    return observer_;
  }

 protected:
  Observed() = default;
  Observed(const Observed& /*other*/) {}
  Observed& operator=(const Observed&) = delete;
  ~Observed() = default;

  void show(const at::Tensor& x) const {
    if (const std::shared_ptr<InputObserver> now = observer()) now->observe(x.detach());
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<InputObserver> observer_;
};

}  // namespace fewbit::nn
