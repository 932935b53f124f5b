#include "checkpoint/frame.hpp"

#include <atomic>
#include <optional>
#include <string>
#include <utility>

#include <ATen/SequenceNumber.h>
#include <ATen/core/grad_mode.h>
#include <ATen/record_function.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/graph_task.h>
#include <torch/csrc/jit/python/update_graph_executor_opt.h>

#include "text/names.hpp"
#include "trace/running_operations.hpp"

namespace fewbit::session {

namespace {

/// Sets a flag for its life.
class Raised {
 public:
  explicit Raised(bool& flag) : flag_(flag) { flag_ = true; }
  ~Raised() { flag_ = false; }
  Raised(const Raised&) = delete;
  Raised& operator=(const Raised&) = delete;

 private:
  bool& flag_;
};

/// Scripts run as they are written, for the life of this in its thread. Torch would optimise them
/// between the first run and the second, and an optimised one saves other tensors.
class ScriptsAsWritten {
 public:
  ScriptsAsWritten() { torch::jit::setGraphExecutorOptimize(false); }
  ~ScriptsAsWritten() { torch::jit::setGraphExecutorOptimize(were_optimised_); }
  ScriptsAsWritten(const ScriptsAsWritten&) = delete;
  ScriptsAsWritten& operator=(const ScriptsAsWritten&) = delete;

 private:
  bool were_optimised_ = torch::jit::getGraphExecutorOptimize();
};

/// Tells those who follow operations that the function of the frame has ended, however it does.
class End {
 public:
  explicit End(int64_t frame) : frame_(frame) {}
  ~End() {
    const std::vector<c10::IValue> arguments = {c10::IValue(frame_)};
    RECORD_FUNCTION(std::string(kEndOfFrame), arguments);
  }
  End(const End&) = delete;
  End& operator=(const End&) = delete;

 private:
  int64_t frame_;
};

/// Of the process, from 1.
int64_t next_frame() {
  static std::atomic<int64_t> count = 0;
  return ++count;
}

/// In the place of a tensor.
class Slot final : public PackedTensor {
 public:
  Slot(std::shared_ptr<CheckpointFrame> frame, size_t number)
      : frame_(std::move(frame)), number_(number) {}
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;
  ~Slot() override { frame_->release(number_); }

  at::Tensor restored() const override { return frame_->take(number_); }
  at::TensorList tensors() const override { return {}; }

 private:
  std::shared_ptr<CheckpointFrame> frame_;
  size_t number_;
};

/// Makes slots of what the function saves in the forward.
class SlotMaker final : public SavedTensorUser {
 public:
  explicit SlotMaker(std::shared_ptr<CheckpointFrame> frame) : frame_(std::move(frame)) {}

  std::unique_ptr<const PackedTensor> replace(const at::Tensor& tensor,
                                              const SaveEvent& event) override {
    if (!frame_->is_running() || is_kept_by_model(tensor, event)) return nullptr;
    return std::make_unique<Slot>(frame_, frame_->add(event));
  }
  bool comes_first() const override { return true; }
  Keeping keep(const SaveEvent& /*event*/) override { return nullptr; }
  bool holds(std::string_view /*operation*/) const override { return frame_->is_running(); }
  void start_call(const RecordedCall& call) override {
    for (const c10::IValue& argument : call.arguments) frame_->use(argument);
  }

 private:
  std::shared_ptr<CheckpointFrame> frame_;
};

}  // namespace

CheckpointFrame::CheckpointFrame(CheckpointFunction function)
    : number_(next_frame()), function_(std::move(function)) {}

void CheckpointFrame::save_inputs(const Tensors& inputs) {
  at::sequence_number::get_and_increment();  // of no node: whoever saves them is none
  std::vector<c10::IValue> arguments(inputs.begin(), inputs.end());
  arguments.emplace_back(number_);
  RECORD_FUNCTION(kCheckpointOperation, arguments);
  for (const at::Tensor& input : inputs) inputs_.emplace_back(input, /*is_output=*/false);
}

Tensors CheckpointFrame::run(const Tensors& inputs) {
  std::vector<int64_t> versions;
  for (const at::Tensor& input : inputs) versions.push_back(input.defined() ? input._version() : 0);
  random_ = ops::RandomStates(inputs);
  const ScriptsAsWritten scripts;
  decided_ = PolicyStack::innermost() != nullptr ? Calls::all : Calls::within;
  const PolicyUse recording(std::make_unique<RecordingPolicy>(decisions_, decided_), true);
  const Raised running(is_running_);
  const End end(number_);
  Tensors outputs = function_(inputs);
  refuse_changed(inputs, versions);
  random_.forget_unmoved();
  parameters_.note_versions();
  return outputs;
}

/// By then the changed one may hold the graph that holds this frame: it is let go.
void CheckpointFrame::refuse_changed(const Tensors& inputs, const std::vector<int64_t>& versions) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined() || inputs[i]._version() == versions[i]) continue;
    inputs_.clear();
    TORCH_CHECK(false, kCheckpointOperation, ": the function changes input ", i, " in place, ",
                inputs[i].toString(), " ", shape_text(shape_of(inputs[i])),
                ", and could not be run on it again");
  }
}

size_t CheckpointFrame::add(const SaveEvent& event) {
  outlines_.emplace_back(event);
  const std::lock_guard lock(slots_);
  is_used_.push_back(true);
  return is_used_.size() - 1;
}

at::Tensor CheckpointFrame::take(size_t slot) {
  const Pass pass = torch::autograd::get_current_graph_task_id();
  const std::lock_guard one_at_a_time(running_);
  TORCH_CHECK(!is_running_again_, kCheckpointOperation,
              ": the function runs a backward pass through a graph that needs itself");
  std::unique_ptr<const PackedTensor> kept = hand_out(pass, slot);
  if (!kept) {
    run_again(pass);
    kept = hand_out(pass, slot);
  }
  TORCH_INTERNAL_ASSERT(kept);
  return kept->restored();
}

void CheckpointFrame::run_again(Pass pass) {
  parameters_.check();
  const Tensors inputs = saved_inputs();
  const auto recorder = std::make_shared<RunRecorder>(outlines_, used_slots());
  {
    const Raised running(is_running_again_);
    const SavedTensorUse use(kCheckpointOperation, recorder);
    run_until_full(inputs, *recorder);
  }
  parameters_.note_versions();
  fill(pass, recorder->take());
}

void CheckpointFrame::run_until_full(const Tensors& inputs, RunRecorder& recorder) const {
  const ForwardAgain forward;
  const ScriptsAsWritten scripts;
  const at::AutoGradMode with_gradient(true);
  const AutocastGuard autocast(autocast_);
  const ops::RandomStatesGuard random(random_);
  std::optional<PolicyUse> policy;  // without which none might be asked
  if (decided_ == Calls::all) policy.emplace(std::make_unique<NoPolicy>());
  const PolicyUse replaying(std::make_unique<ReplayingPolicy>(decisions_, decided_), true);
  try {
    function_(inputs);
  } catch (...) {
    // Whatever became of the exception on its way, as in TorchScript's interpreter.
    if (!recorder.is_full()) throw;
  }
  recorder.check_full();
}

/// As the function got them, with their place in the graph.
Tensors CheckpointFrame::saved_inputs() const {
  Tensors inputs;
  for (const auto& input : inputs_) inputs.push_back(input.unpack());
  return inputs;
}

/// Those up to the last that somebody may still ask for.
size_t CheckpointFrame::used_slots() {
  const std::lock_guard lock(slots_);
  size_t count = is_used_.size();
  while (count > 0 && !is_used_[count - 1]) --count;
  return count;
}

/// Null where it is not there (any more).
std::unique_ptr<const PackedTensor> CheckpointFrame::hand_out(Pass pass, size_t slot) {
  const std::lock_guard lock(slots_);
  const auto filled = filled_.find(pass);
  if (filled == filled_.end() || slot >= filled->second.size()) return nullptr;
  return std::move(filled->second[slot]);
}

void CheckpointFrame::fill(Pass pass, FilledSlots filled) {
  // What the pass does not ask for, in a graph that is retained, goes at its end.
  constexpr Pass kNone = -1;
  if (pass != kNone) {
    torch::autograd::Engine::get_default_engine().queue_callback([frame = weak_from_this(), pass] {
      if (const auto alive = frame.lock()) alive->forget(pass);
    });
  }
  const std::lock_guard lock(slots_);
  for (size_t i = 0; i < filled.size(); ++i) {
    if (!is_used_[i]) filled[i].reset();
  }
  filled_.insert_or_assign(pass, std::move(filled));
}

void CheckpointFrame::forget(Pass pass) {
  FilledSlots forgotten;
  const std::lock_guard lock(slots_);
  if (const auto found = filled_.find(pass); found != filled_.end()) {
    forgotten = std::move(found->second);
    filled_.erase(found);
  }
}

void CheckpointFrame::release(size_t slot) {
  const std::lock_guard lock(slots_);
  is_used_[slot] = false;
}

std::shared_ptr<SavedTensorUser> slot_maker(std::shared_ptr<CheckpointFrame> frame) {
  return std::make_shared<SlotMaker>(std::move(frame));
}

}  // namespace fewbit::session
