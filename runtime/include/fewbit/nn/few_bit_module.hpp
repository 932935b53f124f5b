#pragma once

#include <memory>

#include "fewbit/table.hpp"

namespace fewbit::nn {

/// Sees what goes into an activation.
class InputObserver {
 public:
  virtual ~InputObserver() = default;
  /// x is detached; it may not be changed.
  virtual void observe(const at::Tensor& x) = 0;
};

/// What all few-bit modules have in common, whatever function they compute.
class FewBitModule {
 public:
  virtual ~FewBitModule() = default;

  const Table& table() const { return table_; }
  /// From now on; a graph that was built before keeps its own. Throws c10::Error for a table of
  /// another function or other parameters.
  virtual void set_table(Table table) = 0;
  /// Shows every input from now on; null ends that.
  void set_observer(std::shared_ptr<InputObserver> observer) { observer_ = std::move(observer); }

 protected:
  explicit FewBitModule(Table table) : table_(std::move(table)) {}

  Table table_;
  std::shared_ptr<InputObserver> observer_;
};

}  // namespace fewbit::nn
