#pragma once

#include <cfenv>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace fewbit::kernels {

/// Arithmetic as IEEE 754 has it by default, on this thread, while it lives: rounded to nearest,
/// subnormals kept, no traps; then what the thread had before. Threads of one program differ:
/// at::globalContext().setFlushDenormal(true) changes the thread that calls it and no other. To be
/// held around calls of functions that are compiled apart, so that nothing is moved across.
class DefaultFloatingPoint {
 public:
  DefaultFloatingPoint() {
    if (!is_changed_) return;
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatingPoint() {
    if (is_changed_) std::fesetenv(&before_);
  }
  DefaultFloatingPoint(const DefaultFloatingPoint&) = delete;
  DefaultFloatingPoint& operator=(const DefaultFloatingPoint&) = delete;

 private:
  /// The registers take long to set. One tells of the other: only <cfenv> changes the x87's, by
  /// which the C library reads decimals, and it changes both.
  static bool is_other() {
#if defined(__SSE__)
    constexpr unsigned kFlags = 0x3F;
    return (_mm_getcsr() & ~kFlags) != 0x1F80;
#else
    return true;
#endif
  }

  bool is_changed_ = is_other();
  std::fenv_t before_;
};

}  // namespace fewbit::kernels
