#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <future>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <c10/util/Exception.h>

#include "fewbit/table.hpp"

namespace fewbit {

/// What a table was asked for. Parameters are their bits: in order and equal whatever they are, NaN
/// too.
struct TableKey {
  std::string function;
  int bits;
  std::vector<uint64_t> parameters;

  TableKey(std::string name, int bit_count, const std::vector<double>& values)
      : function(std::move(name)), bits(bit_count) {
    for (const double value : values) parameters.push_back(std::bit_cast<uint64_t>(value));
  }

  auto operator<=>(const TableKey&) const = default;
};

/// The tables that were asked for last, and refusals. The first who asks makes one while others go
/// on; who asks for the same meanwhile waits for it.
class RememberedTables {
 public:
  explicit RememberedTables(size_t most) : most_(most) {}

  template <class Make>
  Table get(const TableKey& key, const Make& make) {
    std::promise<Table> promise;
    const auto [table, is_new] = look_up(key, promise);
    if (is_new) fulfil(key, promise, make);
    return table.get();
  }

  size_t count() {
    const std::lock_guard lock(mutex_);
    return known_.size();
  }

 private:
  using Future = std::shared_future<Table>;
  struct Known {
    Future table;
    std::list<TableKey>::iterator place;
  };

  std::pair<Future, bool> look_up(const TableKey& key, std::promise<Table>& promise) {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(key);
    if (found != known_.end()) {
      by_use_.splice(by_use_.begin(), by_use_, found->second.place);
      return {found->second.table, false};
    }
    if (known_.size() == most_) {
      known_.erase(by_use_.back());
      by_use_.pop_back();
    }
    by_use_.push_front(key);
    const Future table = promise.get_future().share();
    known_.emplace(key, Known{table, by_use_.begin()});
    return {table, true};
  }

  /// Refusals stay: they depend on nothing but the key. Memory that ran out does not.
  template <class Make>
  void fulfil(const TableKey& key, std::promise<Table>& promise, const Make& make) {
    try {
      promise.set_value(make());
    } catch (const c10::Error&) {
      promise.set_exception(std::current_exception());
    } catch (...) {
      promise.set_exception(std::current_exception());
      forget(key);
    }
  }

  void forget(const TableKey& key) {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(key);
    if (found == known_.end()) return;
    by_use_.erase(found->second.place);
    known_.erase(found);
  }

  size_t most_;
  std::mutex mutex_;
  std::list<TableKey> by_use_;  ///< the last first
  std::map<TableKey, Known> known_;
};

}  // namespace fewbit
