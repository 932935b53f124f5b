#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <ATen/core/Tensor.h>
#include <c10/util/intrusive_ptr.h>

#include "fewbit/saved_bytes.hpp"

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

// Memory of a tensor: its storage, or the tensor itself where it has none (sparse, opaque). The
// weak reference keeps the address from being used again, not the data.
struct Memory {
  const void* address() const { return owner._unsafe_get_target(); }

  using Owner = c10::weak_intrusive_ptr<c10::intrusive_ptr_target>;
  Owner owner = Owner::reclaim(nullptr);
  std::int64_t bytes = 0;
};

Memory memory_of(const at::Tensor& tensor);

// What is known of a tensor when it is saved.
struct Saving {
  SavedTensor facts;  // without numbers and flags
  NodeKey node;
  NodeKey maker;
  Memory memory;
  int argument = -1;   // of the running operation that it is; -1: none of them
  std::string caller;  // the operation that called the running one
  // Memory of the running one's arguments that are parameters or views of some.
  std::vector<const void*> parameters;
};

// Follows the calling thread's operations, as libtorch reports them (RecordFunction), from start to
// stop. Names of nodes go to the listener as they become known, some after their node has saved.
using NameListener = void (*)(NodeKey node, const std::string& name);
void start_following_operations(NameListener listener);
void stop_following_operations() noexcept;

// Of a tensor that the calling thread, which follows its operations, saves right now.
Saving describe_saving(const at::Tensor& tensor);

}  // namespace fewbit::session
