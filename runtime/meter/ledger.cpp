#include "meter/ledger.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "meter/saved_call.hpp"

namespace fewbit::session {
namespace {

class KeptRecord {
 public:
  KeptRecord(std::weak_ptr<Ledger> ledger, std::uint64_t record)
      : ledger_(std::move(ledger)), record_(record) {}
  KeptRecord(const KeptRecord&) = delete;
  KeptRecord& operator=(const KeptRecord&) = delete;
  ~KeptRecord() {
    if (const auto alive = ledger_.lock()) alive->release(record_);
  }

 private:
  std::weak_ptr<Ledger> ledger_;
  std::uint64_t record_;
};

}  // namespace

Ledger::Storage& Ledger::storage_of(const Memory& memory) {
  const auto [place, is_new] = storages_.try_emplace(memory.address());
  if (is_new) {
    place->second.memory = memory;
    place->second.number = ++storages_seen_;
  }
  return place->second;
}

const Ledger::Storage& Ledger::known(const Record& record) const {
  return storages_.at(record.event.memory.address());
}

// A storage may turn out to be a parameter's after it was counted, as by `p.detach()` saved first.
void Ledger::mark_parameter(Storage& storage) {
  if (storage.parameter) return;
  storage.parameter = true;
  if (storage.alive > 0) kept_bytes_ -= storage.memory.bytes;
  peak_bytes_ = bytes_at_peak(false);
}

std::shared_ptr<const CallNote> Ledger::note(std::string_view operation,
                                             c10::ArrayRef<const c10::IValue> arguments) const {
  return saved_call(operation, arguments);
}

Keeping Ledger::keep(const SaveEvent& event) {
  return std::make_shared<const KeptRecord>(weak_from_this(), pack(event));
}

std::uint64_t Ledger::pack(SaveEvent event) {
  event.facts.call = std::dynamic_pointer_cast<const SavedCall>(event.note);
  const std::lock_guard lock(mutex_);
  Storage& storage = storage_of(event.memory);
  if (event.facts.parameter) mark_parameter(storage);
  ++storage.records;
  if (storage.alive++ == 0 && !storage.parameter) kept_bytes_ += storage.memory.bytes;

  Node& node = nodes_[event.node];
  ++node.records;
  if (node.name.empty()) node.name = event.facts.operation;

  const std::uint64_t number = ++now_;
  records_.emplace_hint(records_.end(), number, Record{std::move(event)});
  if (kept_bytes_ >= peak_bytes_) {
    peak_bytes_ = kept_bytes_;
    peak_ = now_;
    drop_the_past();
  }
  return number;
}

void Ledger::release(std::uint64_t record) {
  const std::lock_guard lock(mutex_);
  const auto place = records_.find(record);
  if (place == records_.end()) return;  // reset() came between
  Storage& storage = storages_.at(place->second.event.memory.address());
  if (--storage.alive == 0 && !storage.parameter) kept_bytes_ -= storage.memory.bytes;
  place->second.released_at = ++now_;
  ++released_;
  if (!at_peak(*place)) drop(place);
}

void Ledger::name_node(NodeKey node, const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto place = nodes_.find(node);
  if (place != nodes_.end()) place->second.name = name;
}

void Ledger::set_apart(const Memory& memory) {
  const std::lock_guard lock(mutex_);
  Storage& storage = storage_of(memory);
  storage.set_apart = true;
  mark_parameter(storage);
}

void Ledger::reset() {
  const std::lock_guard lock(mutex_);
  records_.clear();
  nodes_.clear();
  std::erase_if(storages_, [](const auto& item) { return !item.second.set_apart; });
  for (auto& [address, storage] : storages_) storage.records = storage.alive = 0;
  released_ = 0;
  kept_bytes_ = peak_bytes_ = 0;
  peak_ = now_;
}

bool Ledger::at_peak(const Records::value_type& entry) const {
  return entry.first <= peak_ && entry.second.released_at > peak_;
}

std::int64_t Ledger::bytes_at_peak(bool parameters) const {
  std::set<const void*> counted;
  std::int64_t sum = 0;
  for (const auto& entry : records_) {
    const Storage& storage = known(entry.second);
    if (storage.parameter == parameters && at_peak(entry) &&
        counted.insert(storage.memory.address()).second) {
      sum += storage.memory.bytes;
    }
  }
  return sum;
}

std::int64_t Ledger::bytes(bool parameters) const {
  const std::lock_guard lock(mutex_);
  return bytes_at_peak(parameters);
}

std::size_t Ledger::size() const {
  const std::lock_guard lock(mutex_);
  return records_.size();
}

Ledger::Records::iterator Ledger::drop(Records::iterator record) {
  const SaveEvent& event = record->second.event;
  const auto storage = storages_.find(event.memory.address());
  if (--storage->second.records == 0 && !storage->second.set_apart) storages_.erase(storage);
  const auto node = nodes_.find(event.node);
  if (--node->second.records == 0) nodes_.erase(node);
  if (record->second.released_at != kAlive) --released_;
  return records_.erase(record);
}

// Called when the peak moved on. It looks at everything only once half of that is past.
void Ledger::drop_the_past() {
  if (2 * released_ <= records_.size()) return;
  for (auto record = records_.begin(); record != records_.end();) {
    record = at_peak(*record) ? std::next(record) : drop(record);
  }
}

std::vector<SavedTensor> Ledger::entries() const {
  const std::lock_guard lock(mutex_);
  std::map<NodeKey, std::int64_t> numbers{{NodeKey{}, 0}};
  const auto number = [&](const NodeKey& node) {
    return numbers.try_emplace(node, static_cast<std::int64_t>(numbers.size())).first->second;
  };
  std::map<std::int64_t, int> users;
  std::vector<SavedTensor> result;
  for (const auto& entry : records_) {
    if (!at_peak(entry)) continue;
    const SaveEvent& event = entry.second.event;
    const Storage& storage = known(entry.second);
    SavedTensor& saved = result.emplace_back(event.facts);
    saved.operation = nodes_.at(event.node).name;
    saved.node = number(event.node);
    if (event.maker == event.node) saved.maker = saved.operation;
    saved.maker_node = number(event.maker);
    saved.storage = storage.number;
    saved.bytes = storage.memory.bytes;
    saved.parameter = storage.parameter;
    ++users[storage.number];
  }
  for (SavedTensor& saved : result) saved.shared = users[saved.storage] > 1;
  return result;
}

}  // namespace fewbit::session
