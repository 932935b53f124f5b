#pragma once

#include <cstdint>
#include <fstream>

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

}  // namespace fewbit::test
