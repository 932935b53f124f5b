#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "fewbit/table.hpp"

namespace fewbit::nn {

/// Sees what goes into an activation.
class InputObserver {
 public:
  virtual ~InputObserver() = default;
  /// x is detached; it may not be changed. Called by every thread that runs the module, also at
  /// once.
  virtual void observe(const at::Tensor& x) = 0;
};

/// What all few-bit modules have in common, whatever function they compute. A clone takes the
/// table, and nobody observes it. Table and observer may change while other threads run the module.
class FewBitModule {
 public:
  virtual ~FewBitModule() = default;

  Table table() const { return state().table; }
  /// From now on; a graph that was built before keeps its own. Throws c10::Error for a table of
  /// another function or other parameters.
  virtual void set_table(Table table) = 0;
  /// Shows every input from now on; null ends that.
  void set_observer(std::shared_ptr<InputObserver> observer) {
    const std::lock_guard lock(mutex_);
    state_.observer = std::move(observer);
  }
  std::shared_ptr<InputObserver> observer() const { return state().observer; }

 protected:
  explicit FewBitModule(Table table) : state_{std::move(table), nullptr} {}
  FewBitModule(const FewBitModule& other) : FewBitModule(other.table()) {}
  FewBitModule& operator=(const FewBitModule& other) {
    use(other.table());
    return *this;
  }

  void use(Table table) {
    const std::lock_guard lock(mutex_);
    state_.table = std::move(table);
  }
  /// Shows x to the observer; the table for it.
  Table watched(const at::Tensor& x) const {
    const State now = state();
    if (now.observer) now.observer->observe(x.detach());
    return now.table;
  }

 private:
  struct State {
    Table table;
    std::shared_ptr<InputObserver> observer;
  };
  State state() const {
    const std::lock_guard lock(mutex_);
    return state_;
  }

  mutable std::mutex mutex_;
  State state_;
};

}  // namespace fewbit::nn
