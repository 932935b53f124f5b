#pragma once

#include <cstdint>

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>

/// A device of torch's for tests, of its kind PrivateUse1 and named stand_in, where no other is:
/// like a GPU it has memory that the host must not touch, and streams that work late.
namespace fewbit::stand_in {

inline constexpr c10::DeviceType kDevice = c10::kPrivateUse1;

/// What torch is asked for in vain, as if nobody had asked: for tests of what sees that.
enum class Fault { none, waits_for_events, records_of_streams };
void plant(Fault fault);

/// The CPU's generator that draws a device's numbers.
at::Generator host_generator(const at::Generator& of_device);

/// The device's own.
const at::Generator& default_generator(c10::DeviceIndex device);

/// For its life the CPU's default generator draws the numbers of a device's.
class DrawsOfDevice {
 public:
  explicit DrawsOfDevice(at::Generator of_device);
  ~DrawsOfDevice();
  DrawsOfDevice(const DrawsOfDevice&) = delete;
  DrawsOfDevice& operator=(const DrawsOfDevice&) = delete;

 private:
  at::Generator host_;
  at::Tensor before_;
};

}  // namespace fewbit::stand_in
