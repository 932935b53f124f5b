#pragma once

#include <atomic>
#include <cstdint>
#include <fstream>

#include <sys/resource.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FEWBIT_ADDRESS_SANITIZER
#include <sanitizer/allocator_interface.h>
#endif
#endif

namespace fewbit::test {

#ifdef FEWBIT_ADDRESS_SANITIZER
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif

/// Bytes of this process in memory; under AddressSanitizer, which keeps freed memory for a while,
/// those that are allocated.
inline int64_t bytes_in_use() {
#ifdef FEWBIT_ADDRESS_SANITIZER
  return static_cast<int64_t>(__sanitizer_get_current_allocated_bytes());
#else
  std::ifstream file("/proc/self/statm");
  int64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
#endif
}

#ifdef FEWBIT_ADDRESS_SANITIZER
/// The most that was allocated at a time since the first call, counted by the allocator's hooks.
inline std::atomic<int64_t> peak_allocated = 0;

inline void note_allocation(const volatile void*, size_t) {
  const auto now = static_cast<int64_t>(__sanitizer_get_current_allocated_bytes());
  int64_t peak = peak_allocated;
  while (peak < now && !peak_allocated.compare_exchange_weak(peak, now)) {
  }
}

inline int64_t peak_bytes() {
  static const int installed =
      __sanitizer_install_malloc_and_free_hooks(note_allocation, [](const volatile void*) {});
  note_allocation(nullptr, static_cast<size_t>(installed));
  return peak_allocated;
}
#else
/// The most memory that this process had; under AddressSanitizer the most that was allocated.
inline int64_t peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{1024} * usage.ru_maxrss;
}
#endif

}  // namespace fewbit::test
