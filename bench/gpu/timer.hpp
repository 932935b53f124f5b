#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "bench/gpu/memory_traffic.hpp"
#include "tests/support/device.hpp"

namespace fewbit::bench {

using device::check;

/// Times what is enqueued on its stream, by events, with the caches emptied before.
class Timer {
 public:
  Timer() : flush_(flush_bytes()) {
    check(cudaMemset(flush_.at(), 0, static_cast<size_t>(flush_.bytes())), "fill");
    for (cudaEvent_t* event : {&begin_, &end_}) check(cudaEventCreate(event), "event");
    warm_up();
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }

  /// Median seconds of one call; as many calls as fit into a few hundredths of a second, 5 to 30.
  double seconds(const std::function<cudaError_t(cudaStream_t)>& enqueue) {
    for (int i = 0; i < 2; ++i) once(enqueue);
    const double first = once(enqueue);
    const int calls = std::clamp(static_cast<int>(0.02 / first), 5, 30);
    std::vector<double> times(static_cast<size_t>(calls));
    for (double& time : times) time = once(enqueue);
    std::nth_element(times.begin(), times.begin() + calls / 2, times.end());
    return times[static_cast<size_t>(calls / 2)];
  }

 private:
  /// Four times the second-level cache.
  static int64_t flush_bytes() {
    int device = 0, bytes = 0;
    check(cudaGetDevice(&device), "device");
    check(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device), "cache size");
    return std::max<int64_t>(4 * int64_t{bytes} / 16 * 16, 1 << 26);
  }

  /// An idle GPU's clock is a fraction of what it is at work: half a second of work.
  void warm_up() {
    double spent = 0.0;
    while (spent < 0.5) {
      spent += once([&](cudaStream_t stream) {
        return cudaMemsetAsync(flush_.at(), 0, static_cast<size_t>(flush_.bytes()), stream);
      });
    }
  }

  double once(const std::function<cudaError_t(cudaStream_t)>& enqueue) {
    check(read_vectors(flush_.at(), flush_.bytes(), stream_), "flush");
    check(cudaEventRecord(begin_, stream_), "event");
    check(enqueue(stream_), "kernel");
    check(cudaEventRecord(end_, stream_), "event");
    check(cudaEventSynchronize(end_), "kernel");
    float milliseconds = 0.0f;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_), "event");
    return 1e-3 * static_cast<double>(milliseconds);
  }

  device::Memory flush_;
  device::Stream stream_;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

}  // namespace fewbit::bench
