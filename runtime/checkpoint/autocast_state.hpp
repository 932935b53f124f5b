#pragma once

#include <array>

#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>

namespace fewbit::session {

/// What autocast does in a thread.
struct AutocastState {
  struct Device {
    bool is_enabled;
    at::ScalarType type;
    bool operator==(const Device&) const = default;
  };
  static constexpr std::array kDevices = {c10::DeviceType::CPU, c10::DeviceType::CUDA};

  static AutocastState of_this_thread();
  void set() const;
  bool operator==(const AutocastState&) const = default;

  std::array<Device, kDevices.size()> devices;
  bool keeps_casts;
};

/// Has it so in the thread that makes it, for its life.
class AutocastGuard {
 public:
  explicit AutocastGuard(const AutocastState& state);
  ~AutocastGuard();
  AutocastGuard(const AutocastGuard&) = delete;
  AutocastGuard& operator=(const AutocastGuard&) = delete;

 private:
  AutocastState before_;
  bool is_other_;
};

}  // namespace fewbit::session
