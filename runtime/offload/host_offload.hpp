#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include <c10/core/Device.h>

#include "offload/store.hpp"

namespace fewbit::offload {

/// A store for each device, made when it is first asked for. Thread-safe.
class Stores {
 public:
  /// Of a CPU a file in the folder that TMPDIR names, else the system's; of others pinned memory.
  /// Throws c10::Error where there can be none; null from then on.
  std::shared_ptr<Store> of(c10::Device device);

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Store>> stores_;  ///< by device
};

/// What one forward offloads and backward takes back. Taking a tensor starts to fetch those that
/// were put before it. Taken in another order each comes as well, if later. Thread-safe.
class HostOffload : public std::enable_shared_from_this<HostOffload> {
 public:
  /// Bytes on their way, and no more than two of the largest memory: of a small model all would be
  /// back at once. But for one that is larger.
  static constexpr size_t kMostAhead = size_t{64} << 20;

  /// By device.
  using StoreOf = std::function<std::shared_ptr<Store>(c10::Device device)>;

  explicit HostOffload(StoreOf store_of, size_t most_ahead = kMostAhead)
      : store_of_(std::move(store_of)), most_ahead_(most_ahead) {}

  /// Memory that is offloaded as long as this lives. In any thread.
  class Away {
   public:
    Away(std::shared_ptr<HostOffload> offload, int64_t number)
        : offload_(std::move(offload)), number_(number) {}
    ~Away();
    Away(const Away&) = delete;
    Away& operator=(const Away&) = delete;

    /// As Slot::take.
    c10::DataPtr take() const;

   private:
    std::shared_ptr<HostOffload> offload_;
    int64_t number_;
  };

  /// Whether memory of the device can be offloaded. A failure is thrown once as c10::Error, naming
  /// the place. From then on the answer is no, and memory stays where it is.
  bool takes(c10::Device device) const;
  /// As Store::put. Of a device that is taken.
  std::unique_ptr<Away> put(c10::DataPtr memory, size_t bytes);

 private:
  struct Entry {
    std::unique_ptr<Slot> slot;
    size_t bytes;
    int64_t pass;  ///< the latest in which it was taken
  };
  using Entries = std::map<int64_t, Entry>;  ///< by number, in the order of put

  Slot& start_taking(int64_t number);
  void fetch_before(int64_t number);
  size_t most_ahead() const { return std::min(most_ahead_, 2 * largest_); }
  void fetch(Entries::value_type& entry);
  void forget(int64_t number);
  void drop(int64_t number);

  const StoreOf store_of_;
  const size_t most_ahead_;
  std::mutex mutex_;
  Entries entries_;
  size_t largest_ = 0;  ///< bytes of one that was put
  int64_t puts_ = 0;
  int64_t pass_ = 1;         ///< a backward pass, as far as one can be told from the next
  std::set<int64_t> ahead_;  ///< numbers that are on their way,
  size_t bytes_ahead_ = 0;   ///< together
  int out_of_order_ = 0;     ///< that were taken one after the other
};

}  // namespace fewbit::offload
