#pragma once

#include <csignal>
#include <cstring>
#include <string>
#include <vector>

#include <c10/core/CPUAllocator.h>
#include <sys/resource.h>

namespace fewbit::offload {

/// Bytes that tell one memory from another.
inline std::vector<char> bytes_of(size_t count, int seed) {
  std::vector<char> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<char>(i * 31 + i / 251 + seed * 97);
  return bytes;
}

inline c10::DataPtr memory_with(const std::vector<char>& bytes) {
  c10::DataPtr memory = c10::GetCPUAllocator()->allocate(bytes.size());
  std::memcpy(memory.get(), bytes.data(), bytes.size());
  return memory;
}

inline bool holds(const c10::DataPtr& memory, const std::vector<char>& bytes) {
  return std::memcmp(memory.get(), bytes.data(), bytes.size()) == 0;
}

/// Files of this process can hold no more than so much, as on a disk that is full.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    before_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit_);
    const rlimit less = {bytes, limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &less);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &limit_);
    std::signal(SIGXFSZ, before_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit limit_ = {};
  void (*before_)(int) = nullptr;
};

}  // namespace fewbit::offload
