// Launches of the CUDA kernels, which the emulator runs, in the stand-in's streams.
#include <functional>

#include "ops/cuda_device.hpp"
#include "tests/stand_in/device/counts.hpp"
#include "tests/stand_in/device/streams.hpp"

namespace fewbit::ops {

cudaStream_t current_cuda_stream() {
  static thread_local EmulatedStream stream;
  if (!stream.defer) {
    stream.defer = [](std::function<void()> launch) {
      stand_in::count_launch();
      stand_in::enqueue(stand_in::current_stream(stand_in::current_device()), std::move(launch));
    };
  }
  return &stream;
}

c10::Device current_cuda_device() {
  return c10::Device(kCudaType, stand_in::current_device());
}

bool is_cuda_stream_captured(c10::DeviceIndex device) {
  return stand_in::is_captured(stand_in::current_stream(device));
}

}  // namespace fewbit::ops
