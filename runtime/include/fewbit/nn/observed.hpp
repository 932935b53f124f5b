#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include <ATen/core/Tensor.h>

namespace fewbit::nn {

/// Gets the inputs of a module.
///
/// ```cpp
/// struct Printer : fewbit::nn::InputObserver {
///   void observe(const at::Tensor& input) override { std::cout << input.sizes() << '\n'; }
/// };
/// fewbit::nn::GELU act;
/// act->set_observer(std::make_shared<Printer>());
/// act->forward(x);
/// ```
class InputObserver {
 public:
  virtual ~InputObserver() = default;
  /// Called with each input, detached, which must not be changed. Every thread that runs the module
  /// calls it, possibly several at the same time.
  virtual void observe(const at::Tensor& x) = 0;
};

/// A module whose inputs an observer can get.
///
/// ```cpp
/// fewbit::nn::GELU act;
/// if (act->observer() == nullptr) std::cout << "not observed\n";
/// ```
///
/// A copy has no observer. The observer may be changed while other threads run the module.
class Observed {
 public:
  /// Sets the observer, which gets every input from now on; null: none.
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
