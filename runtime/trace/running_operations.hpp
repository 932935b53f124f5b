#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/util/SmallVector.h>
#include <c10/util/intrusive_ptr.h>

#include "fewbit/saved_bytes.hpp"

namespace torch::autograd {
struct Node;
}

// Who saves a tensor: autograd does not say so to the hooks.
namespace fewbit::session {

// A node of the autograd graph, by thread and sequence number; {0, 0} is none.
struct NodeKey {
  std::uint64_t thread = 0;
  std::uint64_t sequence = 0;
  bool operator==(const NodeKey&) const = default;
  bool operator<(const NodeKey& other) const {
    return std::tie(thread, sequence) < std::tie(other.thread, other.sequence);
  }
};

// "aten::gelu_" and the like.
bool is_in_place(std::string_view operation);

// Memory of a tensor: its storage, or the tensor itself where it has none (sparse, opaque). The
// weak reference keeps the address from being used again, not the data.
struct Memory {
  const void* address() const { return owner._unsafe_get_target(); }

  using Owner = c10::weak_intrusive_ptr<c10::intrusive_ptr_target>;
  Owner owner = Owner::reclaim(nullptr);
  std::int64_t bytes = 0;
};

Memory memory_of(const at::Tensor& tensor);

// Of that, while the tensor lives.
inline const void* address_of(const at::Tensor& tensor) {
  return tensor.has_storage() ? static_cast<const void*>(tensor.storage().unsafeGetStorageImpl())
                              : tensor.unsafeGetTensorImpl();
}

// Of memories.
using Addresses = c10::SmallVector<const void*, 3>;

// What somebody who follows operations notes of a call.
class CallNote {
 public:
  virtual ~CallNote() = default;
};

// What is known of a tensor when it is saved.
struct SaveEvent {
  SavedTensor facts;  // without numbers and flags
  NodeKey node;
  NodeKey maker;
  Memory memory;
  int argument = -1;     // of the running operation that it is; -1: none of them
  std::string caller;    // the operation that called the running one
  Addresses parameters;  // of the running one's arguments that are parameters or views of some
  const std::vector<c10::IValue>* arguments = nullptr;  // of the running one, where they are held
  std::shared_ptr<const CallNote> note;  // of the innermost of those that run which has one
};

// Calls that checkpoints report: that one saves its inputs, the last argument being the number of
// its frame, and that the function of the frame which is the argument has ended.
inline constexpr const char* kCheckpointOperation = "fewbit::checkpoint";
inline constexpr const char* kEndOfFrame = "fewbit::checkpoint_end";

// A call as it starts, without results, or when it has ended.
struct RecordedCall {
  std::string_view operation;
  const std::vector<c10::IValue>& arguments;
  c10::ArrayRef<c10::IValue> results;
};

// Whether a tensor among the arguments lies in that memory.
bool takes(const RecordedCall& call, const void* memory);
// Whether there is one of which that is so.
bool takes_any(const RecordedCall& call, const std::function<bool(const at::Tensor&)>& is_one);

// Hears of the calling thread's operations.
class OperationListener {
 public:
  virtual ~OperationListener() = default;
  // False: operations are followed no longer.
  virtual bool listens() const = 0;
  // Whether the next two are called.
  virtual bool hears_of_nodes() const = 0;
  // Names of nodes as they become known, some after their node has saved.
  virtual void name_node(NodeKey node, const std::string& name) = 0;
  // Of a call that starts; null: nothing.
  virtual std::shared_ptr<const CallNote> note(std::string_view operation,
                                               c10::ArrayRef<const c10::IValue> arguments) = 0;
  // Whether the next two are told of such calls, whose arguments are held from the one to the
  // other. Neither they nor note() are told of calls that take a tensor without numbers or of
  // Python's making: libtorch traces by such, and they may run anything.
  virtual bool holds(std::string_view operation) const = 0;
  virtual void start_call(const RecordedCall& call) = 0;
  virtual void end_call(const RecordedCall& call) = 0;
  // Of what went wrong within libtorch's callbacks, which nothing may leave.
  virtual void keep_failure(std::exception_ptr failure) noexcept = 0;
};

// Follows the calling thread's operations, as libtorch reports them (RecordFunction), from start to
// stop, or until the listener does not listen. Once each, however often it starts or stops.
void start_following_operations(OperationListener& listener);
void stop_following_operations() noexcept;

// Of a tensor that the calling thread, which follows its operations, saves right now.
SaveEvent describe_save(const at::Tensor& tensor);

// Whether the calling thread computes gradients: but for a forward that is run again meanwhile.
bool is_in_backward();

// A forward that is run again, in the thread and for the life of this.
class ForwardAgain {
 public:
  ForwardAgain();
  ~ForwardAgain();
  ForwardAgain(const ForwardAgain&) = delete;
  ForwardAgain& operator=(const ForwardAgain&) = delete;

 private:
  const torch::autograd::Node* before_;
};

}  // namespace fewbit::session
