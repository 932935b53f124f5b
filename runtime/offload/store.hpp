#pragma once

#include <cstddef>
#include <memory>

#include <c10/core/Allocator.h>

/// Where memory goes that a device need not hold for a while.
namespace fewbit::offload {

/// Offloaded memory, for as long as this lives. Thread-safe, and may die in any thread.
class Slot {
 public:
  virtual ~Slot() = default;
  /// Begins to bring it back, where that has not begun. Waits for nothing.
  virtual void fetch() = 0;
  /// What was brought back and not taken goes again.
  virtual void forget() = 0;
  /// The memory again, to be read by what the calling thread runs there from now on; as often as is
  /// asked. Throws c10::Error where it cannot be had.
  virtual c10::DataPtr take() = 0;
};

class Store {
 public:
  virtual ~Store() = default;
  /// Whether more can be offloaded. Throws c10::Error once where earlier memory could not be, which
  /// is still there.
  virtual bool takes() { return true; }
  /// Waits only while too much is under way. Throws c10::Error where earlier memory could not be
  /// offloaded, which is still there.
  virtual std::unique_ptr<Slot> put(c10::DataPtr memory, size_t bytes) = 0;
};

}  // namespace fewbit::offload
