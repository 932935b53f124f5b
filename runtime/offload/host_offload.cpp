#include "offload/host_offload.hpp"

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "offload/file_store.hpp"
#include "offload/pinned_store.hpp"

namespace fewbit::offload {

namespace {

/// One that is not there is for the file to report.
std::string temporary_folder() {
  const char* const named = std::getenv("TMPDIR");
  return named != nullptr ? named : std::filesystem::temp_directory_path().string();
}

}  // namespace

std::shared_ptr<Store> Stores::of(c10::Device device) {
  const std::lock_guard lock(mutex_);
  const auto [place, is_new] = stores_.try_emplace(device.str());
  std::shared_ptr<Store>& store = place->second;
  if (is_new) {
    store =
        device.is_cpu() ? std::make_shared<FileStore>(temporary_folder()) : pinned_store(device);
  }
  return store;
}

HostOffload::Away::~Away() {
  offload_->drop(number_);
}

c10::DataPtr HostOffload::Away::take() const {
  c10::DataPtr memory = offload_->start_taking(number_).take();
  offload_->fetch_before(number_);
  return memory;
}

bool HostOffload::takes(c10::Device device) const {
  const std::shared_ptr<Store> store = store_of_(device);
  return store && store->takes();
}

std::unique_ptr<HostOffload::Away> HostOffload::put(c10::DataPtr memory, size_t bytes) {
  const std::shared_ptr<Store> store = store_of_(memory.device());
  std::unique_ptr<Slot> slot = store->put(std::move(memory), bytes);
  const std::lock_guard lock(mutex_);
  const int64_t number = puts_++;
  largest_ = std::max(largest_, bytes);
  entries_.emplace(number, Entry{std::move(slot), bytes, 0});
  return std::make_unique<Away>(shared_from_this(), number);
}

/// One that is taken a second time is so by another backward pass.
Slot& HostOffload::start_taking(int64_t number) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_.at(number);
  if (entry.pass == pass_) ++pass_;
  entry.pass = pass_;
  if (ahead_.erase(number) > 0) bytes_ahead_ -= entry.bytes;
  return *entry.slot;
}

/// One that others on their way lie behind is out of order, as is a layer's input that a later one
/// saves, and says nothing of what comes next; several such are an order of their own.
void HostOffload::fetch_before(int64_t number) {
  constexpr int kOrder = 3;
  const std::lock_guard lock(mutex_);
  const bool is_out_of_order = !ahead_.empty() && *ahead_.rbegin() > number;
  out_of_order_ = is_out_of_order ? out_of_order_ + 1 : 0;
  if (is_out_of_order && out_of_order_ < kOrder) return;
  while (!ahead_.empty() && *ahead_.rbegin() > number) forget(*ahead_.rbegin());
  size_t window = 0;
  for (auto entry = entries_.lower_bound(number); entry != entries_.begin();) {
    --entry;
    const int64_t next = entry->first;
    const Entry& value = entry->second;
    if (value.pass == pass_) continue;
    if (window > 0 && window + value.bytes > most_ahead()) return;
    window += value.bytes;
    if (ahead_.contains(next)) continue;
    const auto has_room = [&] {
      return ahead_.empty() || bytes_ahead_ + value.bytes <= most_ahead();
    };
    while (!has_room() && *ahead_.begin() < next) forget(*ahead_.begin());
    if (!has_room()) return;
    fetch(*entry);
  }
}

void HostOffload::fetch(Entries::value_type& entry) {
  auto& [number, value] = entry;
  value.slot->fetch();
  ahead_.insert(number);
  bytes_ahead_ += value.bytes;
}

void HostOffload::forget(int64_t number) {
  const Entry& entry = entries_.at(number);
  entry.slot->forget();
  ahead_.erase(number);
  bytes_ahead_ -= entry.bytes;
}

void HostOffload::drop(int64_t number) {
  std::unique_ptr<Slot> slot;
  const std::lock_guard lock(mutex_);
  const auto entry = entries_.find(number);
  if (ahead_.erase(number) > 0) bytes_ahead_ -= entry->second.bytes;
  slot = std::move(entry->second.slot);
  entries_.erase(entry);
}

}  // namespace fewbit::offload
