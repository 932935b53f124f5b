#pragma once

#include <cfenv>
#include <string>

#if defined(__SSE__)
#include <immintrin.h>
#endif

/// What a thread may do to floating-point arithmetic: flush subnormals to zero, as
/// at::globalContext().setFlushDenormal(true) and programs linked with -ffast-math do, and round
/// otherwise than to nearest.
namespace fewbit::test {

struct FloatingPointMode {
  std::string name;
  bool flushes;
  int rounding;  ///< of <cfenv>
};

/// This thread's arithmetic for the time it lives.
class InMode {
 public:
  explicit InMode(const FloatingPointMode& mode) {
    std::fegetenv(&before_);
    std::fesetround(mode.rounding);
#if defined(__SSE__)
    constexpr unsigned kFlushToZeroAndFromZero = 0x8040;
    if (mode.flushes) _mm_setcsr(_mm_getcsr() | kFlushToZeroAndFromZero);
#endif
  }
  ~InMode() {
    std::fesetenv(&before_);
  }
  InMode(const InMode&) = delete;
  InMode& operator=(const InMode&) = delete;

 private:
  std::fenv_t before_;
};

/// Runs `body` in every mode but the usual one.
template <class Body>
void for_each_mode(const Body& body) {
  struct Rounding {
    const char* name;
    int value;
  };
  for (const bool flushes : {true, false}) {
    for (const Rounding rounding :
         {Rounding{"nearest", FE_TONEAREST}, Rounding{"up", FE_UPWARD},
          Rounding{"down", FE_DOWNWARD}, Rounding{"zero", FE_TOWARDZERO}}) {
      if (!flushes && rounding.value == FE_TONEAREST) continue;
      body({std::string(rounding.name) + (flushes ? ", flushed" : ""), flushes, rounding.value});
    }
  }
}

}  // namespace fewbit::test
