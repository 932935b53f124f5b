#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <torch/csrc/autograd/saved_variable.h>

#include "checkpoint/autocast_state.hpp"
#include "checkpoint/run_recorder.hpp"
#include "checkpoint/used_parameters.hpp"
#include "dispatch/decisions.hpp"
#include "ops/random_states.hpp"

namespace fewbit::session {

using Tensors = std::vector<at::Tensor>;
using CheckpointFunction = std::function<Tensors(const Tensors&)>;

/// One call of checkpoint(). Autograd saves slots of it in the place of what the function saves:
/// the n-th slot is the n-th tensor saved, whichever run of the function saves it.
class CheckpointFrame : public std::enable_shared_from_this<CheckpointFrame> {
 public:
  explicit CheckpointFrame(CheckpointFunction function);

  /// As an operation of that name saves its arguments, by the thread's users.
  void save_inputs(const Tensors& inputs);
  Tensors run(const Tensors& inputs);
  bool is_running() const { return is_running_; }
  void use(const c10::IValue& argument) { parameters_.add(argument); }

  /// A new slot.
  size_t add(const SaveEvent& event);
  /// Its tensor, for the backward pass that runs in this thread.
  at::Tensor take(size_t slot);
  void release(size_t slot);

 private:
  /// Of backward passes, by their numbers.
  using Pass = int;

  void refuse_changed(const Tensors& inputs, const std::vector<int64_t>& versions);
  void run_again(Pass pass);
  void run_until_full(const Tensors& inputs, RunRecorder& recorder) const;
  Tensors saved_inputs() const;
  size_t used_slots();
  std::unique_ptr<const PackedTensor> hand_out(Pass pass, size_t slot);
  void fill(Pass pass, FilledSlots filled);
  void forget(Pass pass);

  int64_t number_;  ///< of the process, from 1
  CheckpointFunction function_;
  std::vector<torch::autograd::SavedVariable> inputs_;
  ops::RandomStates random_;
  AutocastState autocast_ = AutocastState::of_this_thread();
  Decisions decisions_;
  Calls decided_ = Calls::within;
  UsedParameters parameters_;
  std::vector<SavedOutline> outlines_;
  bool is_running_ = false;

  /// Held by the run that fills slots; it may take those of other frames.
  std::recursive_mutex running_;
  bool is_running_again_ = false;

  /// Held for moments, over what follows.
  std::mutex slots_;
  std::vector<bool> is_used_;
  std::map<Pass, FilledSlots> filled_;
};

/// Makes slots of what the frame's function saves in the forward.
std::shared_ptr<SavedTensorUser> slot_maker(std::shared_ptr<CheckpointFrame> frame);

}  // namespace fewbit::session
