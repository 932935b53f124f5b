#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

/// Memory, streams and errors of a CUDA device for programs that run on one.
namespace fewbit::device {

/// Throws std::runtime_error that names what failed and how.
inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

/// Why nothing can run here; empty where there is a device.
inline std::string absence() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) return cudaGetErrorString(status);
  return count == 0 ? "no CUDA device" : "";
}

class Memory {
 public:
  explicit Memory(int64_t bytes) : bytes_(bytes) {
    check(cudaMalloc(&at_, static_cast<size_t>(bytes)), "cudaMalloc");
  }
  explicit Memory(const std::vector<uint8_t>& content)
      : Memory(static_cast<int64_t>(content.size())) {
    upload(content);
  }
  Memory(Memory&& other) noexcept : at_(std::exchange(other.at_, nullptr)), bytes_(other.bytes_) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  Memory& operator=(Memory&&) = delete;
  ~Memory() { cudaFree(at_); }

  uint8_t* at(int64_t byte = 0) const { return static_cast<uint8_t*>(at_) + byte; }
  int64_t bytes() const { return bytes_; }

  /// Done when it returns, for all streams: a copy from pageable memory alone might not be.
  void upload(const std::vector<uint8_t>& content, int64_t to = 0) {
    check(cudaMemcpy(at(to), content.data(), content.size(), cudaMemcpyHostToDevice), "upload");
    check(cudaDeviceSynchronize(), "upload");
  }

  /// Waits for all that was enqueued before.
  std::vector<uint8_t> download(int64_t from, int64_t count) const {
    std::vector<uint8_t> content(static_cast<size_t>(count));
    check(cudaDeviceSynchronize(), "kernels");
    check(cudaMemcpy(content.data(), at(from), content.size(), cudaMemcpyDeviceToHost), "download");
    return content;
  }
  std::vector<uint8_t> download() const { return download(0, bytes_); }

 private:
  void* at_ = nullptr;
  int64_t bytes_;
};

/// A stream that does not wait for the default one.
class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream"); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { cudaStreamDestroy(stream_); }

  operator cudaStream_t() const { return stream_; }
  void wait() const { check(cudaStreamSynchronize(stream_), "kernels"); }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace fewbit::device
