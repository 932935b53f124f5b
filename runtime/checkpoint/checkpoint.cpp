// A frame is one call of checkpoint(). Autograd keeps slots of it in the place of what the function
// saves: the n-th slot is the n-th tensor saved, whichever run of the function saves it.
#include "fewbit/checkpoint.hpp"

#include <atomic>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include <ATen/SequenceNumber.h>
#include <ATen/core/grad_mode.h>
#include <ATen/record_function.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/graph_task.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/csrc/jit/python/update_graph_executor_opt.h>

#include "checkpoint/autocast_state.hpp"
#include "dispatch/decisions.hpp"
#include "ops/random_states.hpp"
#include "text/names.hpp"
#include "trace/backward_pass.hpp"
#include "trace/model_parameters.hpp"
#include "trace/saved_tensors.hpp"

namespace fewbit {
namespace session {
namespace {

using Tensors = std::vector<at::Tensor>;
using Function = std::function<Tensors(const Tensors&)>;

/// Both runs leave these to whoever keeps them without a checkpoint.
bool is_kept_by_model(const at::Tensor& tensor, const SaveEvent& event) {
  return event.facts.parameter || is_of_parameter(tensor);
}

/// A saved tensor, but for its contents.
struct Outline {
  std::string operation;
  std::vector<int64_t> shape;
  at::ScalarType type;
  at::Device device;

  explicit Outline(const SaveEvent& event)
      : operation(event.facts.operation),
        shape(event.facts.shape),
        type(event.facts.dtype),
        device(event.facts.device) {}
  bool operator==(const Outline&) const = default;

  std::string text() const {
    return operation + "'s " + c10::toString(type) + " " + shape_text(shape) + " on " +
           device.str();
  }
};

/// Thrown out of the function once there is nothing more to be had of it.
class EnoughSaved final : public std::exception {
 public:
  const char* what() const noexcept override { return "fewbit::checkpoint has what it needs"; }
};

/// Leaves that ask for a gradient and that a function uses. Its values depend on them whether its
/// gradients do or not.
class Parameters {
 public:
  void add(const c10::IValue& argument) {
    if (argument.isTensor()) {
      add(argument.toTensor());
    } else if (argument.isTensorList()) {
      for (const at::Tensor& tensor : argument.toTensorVector()) add(tensor);
    }
  }

  /// As a run of the function leaves them.
  void note_versions() {
    for (auto& [address, used] : used_) used.version = used.tensor._version();
  }

  void check() const {
    for (const auto& [address, used] : used_) {
      const at::Tensor& tensor = used.tensor;
      TORCH_CHECK(tensor._version() == used.version, kCheckpointOperation,
                  ": backward runs the function again, but one of its parameters has been modified "
                  "by an inplace operation since the forward: ",
                  tensor.toString(), " ", shape_text(shape_of(tensor)), " is at version ",
                  tensor._version(), "; expected version ", used.version);
    }
  }

 private:
  struct Used {
    at::Tensor tensor;
    int64_t version;
  };

  void add(const at::Tensor& tensor) {
    if (!tensor.defined() || !tensor.requires_grad()) return;
    const at::Tensor root = tensor.is_view() ? at::Tensor(tensor._base()) : tensor;
    if (!root.is_leaf() || !root.requires_grad()) return;
    used_.try_emplace(root.unsafeGetTensorImpl(), Used{root, root._version()});
  }

  std::unordered_map<const c10::TensorImpl*, Used> used_;
};

/// What one run saved, by slot.
using Filled = std::vector<std::unique_ptr<const PackedTensor>>;

/// Fills slots with what a run saves, and ends the run when they are full. What is saved is kept in
/// that run's own graph too, through which the function may run a backward pass.
class Recorder final : public SavedTensorUser {
 public:
  Recorder(const std::vector<Outline>& expected, size_t count)
      : expected_(expected), count_(count) {}

  std::unique_ptr<const PackedTensor> replace(const at::Tensor& tensor,
                                              const SaveEvent& event) override {
    if (is_kept_by_model(tensor, event)) return nullptr;
    if (is_full()) throw EnoughSaved();  // a function that caught the first one
    const Outline& expected = expected_[filled_.size()];
    const Outline seen(event);
    TORCH_CHECK(seen == expected, kCheckpointOperation,
                ": run again for backward, the function saves ", seen.text(), " as tensor ",
                filled_.size() + 1, " of ", expected_.size(), " where the forward saved ",
                expected.text(), ": it has to do the same every time");
    filled_.push_back(kept_unchanged(tensor));
    if (is_full()) throw EnoughSaved();
    return kept_unchanged(tensor);
  }
  bool comes_first() const override { return true; }
  std::unique_ptr<Keeping> keep(const SaveEvent& /*event*/) override { return nullptr; }

  bool is_full() const { return filled_.size() == count_; }
  void check_full() const {
    TORCH_CHECK(is_full(), kCheckpointOperation, ": run again for backward, the function saves ",
                filled_.size(), " tensors where the forward saved ", expected_.size(), ", next ",
                expected_[filled_.size()].text(), ": it has to do the same every time");
  }
  Filled take() { return std::move(filled_); }

 private:
  const std::vector<Outline>& expected_;
  size_t count_;
  Filled filled_;
};

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

class Frame : public std::enable_shared_from_this<Frame> {
 public:
  explicit Frame(Function function) : function_(std::move(function)) {}

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
  void run_until_full(const Tensors& inputs, Recorder& recorder) const;
  Tensors saved_inputs() const;
  size_t used_slots();
  std::unique_ptr<const PackedTensor> hand_out(Pass pass, size_t slot);
  void fill(Pass pass, Filled filled);
  void forget(Pass pass);

  int64_t number_ = next_frame();
  Function function_;
  std::vector<torch::autograd::SavedVariable> inputs_;
  ops::RandomStates random_;
  AutocastState autocast_ = AutocastState::of_this_thread();
  Decisions decisions_;
  Calls decided_ = Calls::within;
  Parameters parameters_;
  std::vector<Outline> outlines_;
  bool is_running_ = false;

  /// Held by the run that fills slots; it may take those of other frames.
  std::recursive_mutex running_;
  bool is_running_again_ = false;

  /// Held for moments, over what follows.
  std::mutex slots_;
  std::vector<bool> is_used_;
  std::map<Pass, Filled> filled_;
};

/// In the place of a tensor.
class Slot final : public PackedTensor {
 public:
  Slot(std::shared_ptr<Frame> frame, size_t number) : frame_(std::move(frame)), number_(number) {}
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;
  ~Slot() override { frame_->release(number_); }

  at::Tensor restored() const override { return frame_->take(number_); }
  at::TensorList tensors() const override { return {}; }

 private:
  std::shared_ptr<Frame> frame_;
  size_t number_;
};

/// Makes slots of what the function saves in the forward.
class SlotMaker final : public SavedTensorUser {
 public:
  explicit SlotMaker(std::shared_ptr<Frame> frame) : frame_(std::move(frame)) {}

  std::unique_ptr<const PackedTensor> replace(const at::Tensor& tensor,
                                              const SaveEvent& event) override {
    if (!frame_->is_running() || is_kept_by_model(tensor, event)) return nullptr;
    return std::make_unique<Slot>(frame_, frame_->add(event));
  }
  bool comes_first() const override { return true; }
  std::unique_ptr<Keeping> keep(const SaveEvent& /*event*/) override { return nullptr; }
  bool holds(std::string_view /*operation*/) const override { return frame_->is_running(); }
  void start_call(const RecordedCall& call) override {
    for (const c10::IValue& argument : call.arguments) frame_->use(argument);
  }

 private:
  std::shared_ptr<Frame> frame_;
};

void Frame::save_inputs(const Tensors& inputs) {
  at::sequence_number::get_and_increment();  // of no node: whoever saves them is none
  std::vector<c10::IValue> arguments(inputs.begin(), inputs.end());
  arguments.emplace_back(number_);
  RECORD_FUNCTION(kCheckpointOperation, arguments);
  for (const at::Tensor& input : inputs) inputs_.emplace_back(input, /*is_output=*/false);
}

Tensors Frame::run(const Tensors& inputs) {
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
void Frame::refuse_changed(const Tensors& inputs, const std::vector<int64_t>& versions) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined() || inputs[i]._version() == versions[i]) continue;
    inputs_.clear();
    TORCH_CHECK(false, kCheckpointOperation, ": the function changes input ", i, " in place, ",
                inputs[i].toString(), " ", shape_text(shape_of(inputs[i])),
                ", and could not be run on it again");
  }
}

size_t Frame::add(const SaveEvent& event) {
  outlines_.emplace_back(event);
  const std::lock_guard lock(slots_);
  is_used_.push_back(true);
  return is_used_.size() - 1;
}

at::Tensor Frame::take(size_t slot) {
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

void Frame::run_again(Pass pass) {
  parameters_.check();
  const Tensors inputs = saved_inputs();
  const auto recorder = std::make_shared<Recorder>(outlines_, used_slots());
  {
    const Raised running(is_running_again_);
    const SavedTensorUse use(kCheckpointOperation, recorder);
    run_until_full(inputs, *recorder);
  }
  parameters_.note_versions();
  fill(pass, recorder->take());
}

void Frame::run_until_full(const Tensors& inputs, Recorder& recorder) const {
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
Tensors Frame::saved_inputs() const {
  Tensors inputs;
  for (const auto& input : inputs_) inputs.push_back(input.unpack());
  return inputs;
}

/// Those up to the last that somebody may still ask for.
size_t Frame::used_slots() {
  const std::lock_guard lock(slots_);
  size_t count = is_used_.size();
  while (count > 0 && !is_used_[count - 1]) --count;
  return count;
}

/// Null where it is not there (any more).
std::unique_ptr<const PackedTensor> Frame::hand_out(Pass pass, size_t slot) {
  const std::lock_guard lock(slots_);
  const auto filled = filled_.find(pass);
  if (filled == filled_.end() || slot >= filled->second.size()) return nullptr;
  return std::move(filled->second[slot]);
}

void Frame::fill(Pass pass, Filled filled) {
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

void Frame::forget(Pass pass) {
  Filled forgotten;
  const std::lock_guard lock(slots_);
  if (const auto found = filled_.find(pass); found != filled_.end()) {
    forgotten = std::move(found->second);
    filled_.erase(found);
  }
}

void Frame::release(size_t slot) {
  const std::lock_guard lock(slots_);
  is_used_[slot] = false;
}

}  // namespace
}  // namespace session

std::vector<at::Tensor> checkpoint_list(
    const std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>& function,
    const std::vector<at::Tensor>& inputs) {
  if (!at::GradMode::is_enabled()) return function(inputs);
  const auto frame = std::make_shared<session::Frame>(function);
  const session::SavedTensorUse use(session::kCheckpointOperation,
                                    std::make_shared<session::SlotMaker>(frame));
  frame->save_inputs(inputs);
  return frame->run(inputs);
}

at::Tensor checkpoint(const std::function<at::Tensor(const at::Tensor&)>& function,
                      const at::Tensor& input) {
  const auto on_list = [function](const std::vector<at::Tensor>& inputs) {
    return std::vector<at::Tensor>{function(inputs[0])};
  };
  return checkpoint_list(on_list, std::vector<at::Tensor>{input})[0];
}

}  // namespace fewbit
