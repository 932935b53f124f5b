#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace fewbit::bench {

/// 64-byte aligned bytes, touched.
class Buffer {
 public:
  explicit Buffer(int64_t bytes) : bytes_(static_cast<size_t>(bytes) + 64, 1) {}
  uint8_t* data() {
    const uintptr_t at = reinterpret_cast<uintptr_t>(bytes_.data());
    return bytes_.data() + (64 - at % 64) % 64;
  }

 private:
  std::vector<uint8_t> bytes_;
};

/// Copies past the caches: the fastest a pass over so many bytes can be. `to` is 16-byte aligned,
/// bytes a multiple of 64.
inline void stream_copy(const uint8_t* from, uint8_t* to, int64_t bytes) {
#if defined(__SSE2__)
  for (int64_t i = 0; i + 64 <= bytes; i += 64) {
    for (int64_t k = i; k < i + 64; k += 16) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + k),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + k)));
    }
  }
  _mm_sfence();
#else
  std::memcpy(to, from, static_cast<size_t>(bytes));
#endif
}

}  // namespace fewbit::bench
