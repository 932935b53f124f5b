#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/saved_tensors.hpp"

namespace fewbit::session {

// The books of one meter: what is held, since when and until when. Thread-safe.
//
// Time counts pack and release events. The moment of the greatest sum is one number, `peak_`, and
// what was held then are the records with packed_at <= peak_ < released_at. Records that can no
// longer be part of an answer are dropped, so that a meter over a training loop stays small.
class Ledger final : public SavedTensorUser, public std::enable_shared_from_this<Ledger> {
 public:
  // Releases the record at its end, where the ledger lives that long.
  Keeping keep(const SaveEvent& event) override;
  std::shared_ptr<const CallNote> note(std::string_view operation,
                                       c10::ArrayRef<const c10::IValue> arguments) const override;
  bool hears_of_nodes() const override { return true; }
  // Nothing for a node that saves nothing.
  void name_node(NodeKey node, const std::string& name) override;

  // Returns the record's number for release().
  std::uint64_t pack(SaveEvent event);
  void release(std::uint64_t record);
  void set_apart(const Memory& memory);
  void reset();

  std::int64_t bytes(bool parameters) const;
  std::vector<SavedTensor> entries() const;
  // Records in the books, those that no answer needs any more among them.
  std::size_t size() const;

 private:
  static constexpr std::uint64_t kAlive = ~std::uint64_t{0};

  struct Record {
    SaveEvent event;
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
