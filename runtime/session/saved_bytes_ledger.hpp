#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <c10/util/intrusive_ptr.h>

#include "fewbit/saved_bytes.hpp"

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

// What is known when a tensor is packed.
struct Packed {
  SavedTensor facts;  // without numbers and flags
  NodeKey node;
  NodeKey maker;
  Memory memory;
};

// The books of one meter: what is kept, since when and until when. Thread-safe.
//
// Time counts pack and release events. The moment of the greatest sum is one number, `peak_`, and
// what was kept then are the records with packed_at <= peak_ < released_at. Records that can no
// longer be part of an answer are dropped, so that a meter over a training loop stays small.
class Ledger {
 public:
  // Returns the record's number for release().
  std::uint64_t pack(Packed packed);
  void release(std::uint64_t record);
  // Names a node that keeps something; nothing for others.
  void name_node(NodeKey node, const std::string& name);
  void set_apart(const Memory& memory);
  void reset();

  std::int64_t bytes(bool parameters) const;
  std::vector<SavedTensor> entries() const;
  // Records in the books, those that no answer needs any more among them.
  std::size_t size() const;

 private:
  static constexpr std::uint64_t kAlive = ~std::uint64_t{0};

  struct Record {
    Packed packed;
    std::uint64_t released_at = kAlive;
  };
  struct Storage {
    Memory memory;
    std::int64_t number = 0;
    std::int64_t records = 0;  // in the books
    std::int64_t alive = 0;    // of these, not released
    bool parameter = false;
    bool set_apart = false;
  };
  struct Node {
    std::string name;
    std::int64_t records = 0;
  };
  using Records = std::map<std::uint64_t, Record>;  // by the time of packing

  Storage& storage_of(const Memory& memory);
  const Storage& known(const Record& record) const;
  void mark_parameter(Storage& storage);
  bool at_peak(const Records::value_type& entry) const;
  std::int64_t bytes_at_peak(bool parameters) const;
  Records::iterator drop(Records::iterator record);
  void drop_the_past();

  mutable std::mutex mutex_;
  std::uint64_t now_ = 0;
  std::uint64_t peak_ = 0;
  std::int64_t kept_bytes_ = 0;
  std::int64_t peak_bytes_ = 0;
  std::int64_t storages_seen_ = 0;
  std::size_t released_ = 0;  // among records_
  Records records_;
  std::unordered_map<const void*, Storage> storages_;
  std::map<NodeKey, Node> nodes_;
};

}  // namespace fewbit::session
