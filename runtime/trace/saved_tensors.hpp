#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <ATen/core/Tensor.h>

#include "trace/running_operations.hpp"

namespace fewbit::session {

class ChangingTensor;
class UserStack;

// What is stored in the place of a saved tensor.
class PackedTensor {
 public:
  virtual ~PackedTensor() = default;
  // The tensor again; in any thread, as often as backward asks.
  virtual at::Tensor restored() const = 0;
  // All that is held.
  virtual at::TensorList tensors() const = 0;
  // Itself, where it is one of those; null: it is none.
  virtual const ChangingTensor* changing() const { return nullptr; }
};

// One of which something else may be held later.
class ChangingTensor : public PackedTensor {
 public:
  const ChangingTensor* changing() const final { return this; }
  // Whether users may be told of it yet.
  virtual bool is_settled() const = 0;
  // To be called when something else is held, or when users may be told.
  virtual void when_changed(const std::function<void()>& tell) const = 0;
};

// The same of any: one that does not change is settled.
bool is_settled(const PackedTensor& kept);
void when_changed(const PackedTensor& kept, const std::function<void()>& tell);

// The tensor itself, without its graph: refused where it was changed in place meanwhile.
std::unique_ptr<const PackedTensor> kept_unchanged(const at::Tensor& tensor);

// Lives as long as what a user was told of is held; null: nobody asks.
using Keeping = std::shared_ptr<const void>;

// Somebody whom the tensors concern that autograd saves in a thread. Of the calling thread's users
// the latest that replaces a tensor does so, those that come first before the others; then all are
// told what is stored.
class SavedTensorUser {
 public:
  virtual ~SavedTensorUser() = default;
  // In the place of the tensor; null: not by this user. Runs without gradients and unwatched.
  virtual std::unique_ptr<const PackedTensor> replace(const at::Tensor& /*tensor*/,
                                                      const SaveEvent& /*event*/) {
    return nullptr;
  }
  // Somebody who is asked before replaces a tensor.
  virtual void pass_over() {}
  // Whether it is asked before those that are opened later.
  virtual bool comes_first() const { return false; }
  // Whether it is told of parts of what replaces a tensor. That does not change.
  virtual bool hears_of_parts() const { return true; }
  // One tensor that is held: the saved one, or a part of what replaces it. What is not settled is
  // told of once it is.
  virtual Keeping keep(const SaveEvent& event) = 0;
  // Whether it is told of names of nodes, and asked for notes of calls. That does not change.
  virtual bool hears_of_nodes() const { return false; }
  // The name of a node that may have saved something is known.
  virtual void name_node(NodeKey /*node*/, const std::string& /*name*/) {}
  // Of a call that starts, for all tensors that it saves; null: nothing. The first user's counts.
  virtual std::shared_ptr<const CallNote> note(
      std::string_view /*operation*/, c10::ArrayRef<const c10::IValue> /*arguments*/) const {
    return nullptr;
  }
  // Whether it is to hear of such calls when they start and end. That runs as replace does.
  virtual bool holds(std::string_view /*operation*/) const { return false; }
  virtual void start_call(const RecordedCall& /*call*/) {}
  virtual void end_call(const RecordedCall& /*call*/) {}
};

// Open in the thread that makes it, until it ends in whichever thread; a user that is open several
// times there counts once. What users throw while libtorch would swallow it is thrown by the next
// tensor that the thread saves, or its next use. Hooks of
// libtorch's engine stand behind it, and hold that engine's place in all threads while there are
// users. A tensor that is not replaced is unpacked as the same memory under another handle, and
// refused where it was changed in place meanwhile; replaced ones are what they were when saved.
class SavedTensorUse {
 public:
  // Throws c10::Error naming `who` where the process runs another engine, such as Python's, or
  // where hooks on saved tensors are disabled in this thread.
  SavedTensorUse(const char* who, std::shared_ptr<SavedTensorUser> user);
  ~SavedTensorUse();
  SavedTensorUse(const SavedTensorUse&) = delete;
  SavedTensorUse& operator=(const SavedTensorUse&) = delete;

 private:
  std::shared_ptr<UserStack> stack_;  // of the thread that opened it
  std::shared_ptr<SavedTensorUser> user_;
};

}  // namespace fewbit::session
