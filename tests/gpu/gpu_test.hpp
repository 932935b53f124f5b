#pragma once

#include <cmath>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/activation/cuda/activation.hpp"
#include "tests/kernels/reference.hpp"
#include "tests/support/device.hpp"

/// Tests that run on a device, with nothing but the kernels and the standard library: a test is a
/// function that throws.
namespace fewbit::kernels::cuda {

using Bytes = std::vector<uint8_t>;
using device::check;
using device::Memory;
using device::Stream;

/// How long a test takes under compute-sanitizer, which is 10 to 100 times slower.
enum class Cost { small, large };

struct GpuTest {
  const char* name;
  Cost cost;
  void (*run)();
};

inline std::vector<GpuTest>& gpu_tests() {
  static std::vector<GpuTest> tests;
  return tests;
}

struct Registration {
  Registration(const char* name, Cost cost, void (*run)()) {
    gpu_tests().push_back({name, cost, run});
  }
};

#define GPU_TEST(name, cost)                                        \
  static void name();                                               \
  static const Registration name##_registration(#name, cost, name); \
  static void name()

/// Throws with the parts of the message in one line unless it holds.
template <class... Part>
void expect(bool holds, const Part&... message) {
  if (holds) return;
  std::ostringstream text;
  ((text << message << ' '), ...);
  throw std::runtime_error(text.str());
}

constexpr ElementType kTypes[] = {ElementType::f32, ElementType::bf16, ElementType::f16,
                                  ElementType::f64};

inline const Activation& known(const char* function) {
  const Activation* found = find_activation(function);
  expect(found != nullptr, "no CUDA kernels of", function);
  return *found;
}

/// Room for `bytes` at a distance from a 16-byte boundary, with guards on both sides that hold what
/// was written to them until somebody writes beyond.
class Guarded {
 public:
  static constexpr int64_t kGuard = 256;

  Guarded(int64_t bytes, int64_t shift)
      : bytes_(bytes), begin_(kGuard + shift), memory_(bytes + shift + 2 * kGuard) {
    check(cudaMemset(memory_.at(), kFill, static_cast<size_t>(memory_.bytes())), "fill");
  }
  Guarded(const Bytes& content, int64_t shift)
      : Guarded(static_cast<int64_t>(content.size()), shift) {
    memory_.upload(content, begin_);
  }

  uint8_t* at() const { return memory_.at(begin_); }

  /// The content; throws where a guard was written to.
  Bytes content() const {
    const Bytes all = memory_.download();
    for (int64_t i = 0; i < memory_.bytes(); ++i) {
      const bool is_guard = i < begin_ || i >= begin_ + bytes_;
      expect(!is_guard || all[static_cast<size_t>(i)] == kFill, "wrote to byte", i - begin_, "of",
             bytes_);
    }
    return {all.begin() + begin_, all.begin() + begin_ + bytes_};
  }

 private:
  static constexpr uint8_t kFill = 0xA5;

  int64_t bytes_;
  int64_t begin_;
  Memory memory_;
};

/// Distances from a 16-byte boundary, in bytes.
struct Shifts {
  int64_t x = 0;
  int64_t y = 0;
  int64_t codes = 0;
};

struct Pass {
  Bytes y;
  Bytes codes;
};

/// A number that kernels read on the device.
class DeviceNumber {
 public:
  explicit DeviceNumber(uint64_t number) : memory_(sizeof number) { set(number); }

  void set(uint64_t number) {
    Bytes bytes(sizeof number);
    std::memcpy(bytes.data(), &number, sizeof number);
    memory_.upload(bytes);
  }
  const uint64_t* at() const { return reinterpret_cast<const uint64_t*>(memory_.at()); }

 private:
  Memory memory_;
};

/// forward, or forward_unbiased where `random` is given.
inline Pass run_forward(const Activation& activation, const StepView& steps, ElementType type,
                        const Bytes& x, const PhiloxState* random = nullptr, Shifts shifts = {}) {
  const int64_t count = static_cast<int64_t>(x.size()) / element_bytes(type);
  const Guarded from(x, shifts.x), to(static_cast<int64_t>(x.size()), shifts.y),
      codes(code_bytes(count, steps.bits), shifts.codes);
  const PhiloxState state = random != nullptr ? *random : PhiloxState{};
  const DeviceNumber seed(state.seed);
  const Stream stream;
  // The guards were filled on another stream.
  check(cudaDeviceSynchronize(), "fill");
  check(random != nullptr
            ? activation_forward_unbiased(activation, nullptr, steps, {seed.at(), state.offset},
                                          type, from.at(), to.at(), codes.at(), count, stream)
            : activation_forward(activation, nullptr, steps, type, from.at(), to.at(), codes.at(),
                                 count, stream),
        "forward");
  stream.wait();
  expect(from.content() == x, "x was changed");
  return {to.content(), codes.content()};
}

inline Bytes run_backward(const StepView& steps, ElementType type, const Bytes& dy,
                          const Bytes& codes, Shifts shifts = {}) {
  const int64_t count = static_cast<int64_t>(dy.size()) / element_bytes(type);
  const Guarded from(dy, shifts.x), to(static_cast<int64_t>(dy.size()), shifts.y),
      kept(codes, shifts.codes);
  const Stream stream;
  check(cudaDeviceSynchronize(), "fill");
  check(activation_backward(steps, type, from.at(), kept.at(), to.at(), count, stream), "backward");
  stream.wait();
  return to.content();
}

/// level * dy by the definition: a product in float, rounded to the type; in double for fp64. Codes
/// without a level count as zero, and zero passes nothing on, be dy NaN or negative.
inline Bytes reference_backward(const StepView& steps, ElementType type, const Bytes& dy,
                                const Bytes& codes) {
  std::vector<double> dx = elements(dy, type);
  for (size_t i = 0; i < dx.size(); ++i) {
    const int code = code_at(codes, steps.bits, static_cast<int64_t>(i));
    const float level = code < steps.level_count ? steps.levels[code] : 0.0f;
    const bool nothing = level == 0.0f && !std::signbit(level);
    dx[i] = nothing                    ? 0.0
            : type == ElementType::f64 ? static_cast<double>(level) * dx[i]
                                       : static_cast<double>(level * static_cast<float>(dx[i]));
  }
  return bytes_of(dx, type);
}

/// The first element at which two passes differ, for messages.
inline int64_t first_difference(const Bytes& a, const Bytes& b) {
  const auto [at, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return at - a.begin();
}

}  // namespace fewbit::kernels::cuda
