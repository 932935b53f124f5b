#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "trace/saved_tensors.hpp"

namespace fewbit::session {

/// Both runs of a function leave these to whoever keeps them without a checkpoint.
bool is_kept_by_model(const at::Tensor& tensor, const SaveEvent& event);

/// A saved tensor, but for its contents.
struct SavedOutline {
  std::string operation;
  std::vector<int64_t> shape;
  at::ScalarType type;
  at::Device device;

  explicit SavedOutline(const SaveEvent& event);
  bool operator==(const SavedOutline&) const = default;

  std::string text() const;
};

/// What one run saved, by slot.
using FilledSlots = std::vector<std::unique_ptr<const PackedTensor>>;

/// Fills slots with what a run saves, and ends the run when they are full. What is saved is held in
/// that run's own graph too, through which the function may run a backward pass.
class RunRecorder final : public SavedTensorUser {
 public:
  /// expected: what the forward saved. count: so many of it are wanted, the first ones.
  RunRecorder(const std::vector<SavedOutline>& expected, size_t count)
      : expected_(expected), count_(count) {}

  /// Throws c10::Error where the run saves other tensors than the forward, and out of the function
  /// once there is nothing more to be had of it.
  std::unique_ptr<const PackedTensor> replace(const at::Tensor& tensor,
                                              const SaveEvent& event) override;
  bool comes_first() const override { return true; }
  Keeping keep(const SaveEvent& /*event*/) override { return nullptr; }

  bool is_full() const { return filled_.size() == count_; }
  /// Throws c10::Error where it is not.
  void check_full() const;
  FilledSlots take() { return std::move(filled_); }

 private:
  const std::vector<SavedOutline>& expected_;
  size_t count_;
  FilledSlots filled_;
};

}  // namespace fewbit::session
