#pragma once

#include <optional>

#include "kernels/activation/cuda/activation.hpp"
#include "tests/kernels/inputs.hpp"
#include "tests/kernels/support.hpp"

/// Passes of the emulated CUDA kernels over host memory.
namespace fewbit::kernels::cuda {

/// Memory between canaries, `offset` bytes off an alignment of 16.
class Guarded {
 public:
  Guarded(size_t bytes, size_t offset) : bytes_(bytes), begin_(64 + offset) {
    memory_.assign(bytes + 160, kCanary);
    begin_ += 16 - reinterpret_cast<uintptr_t>(memory_.data()) % 16;
  }

  uint8_t* data() { return memory_.data() + begin_; }

  std::vector<uint8_t> content() const {
    const auto from = memory_.begin() + static_cast<std::ptrdiff_t>(begin_);
    return {from, from + static_cast<std::ptrdiff_t>(bytes_)};
  }

  bool is_intact() const {
    const auto is_canary = [](uint8_t byte) { return byte == kCanary; };
    const auto from = memory_.begin() + static_cast<std::ptrdiff_t>(begin_);
    return std::all_of(memory_.begin(), from, is_canary) &&
           std::all_of(from + static_cast<std::ptrdiff_t>(bytes_), memory_.end(), is_canary);
  }

 private:
  static constexpr uint8_t kCanary = 0xA5;

  size_t bytes_;
  size_t begin_;
  std::vector<uint8_t> memory_;
};

inline Guarded guarded(const std::vector<uint8_t>& content, size_t offset) {
  Guarded memory(content.size(), offset);
  std::copy(content.begin(), content.end(), memory.data());
  return memory;
}

/// How a pass is run.
struct How {
  size_t offset = 0;  ///< of all memory, in elements
  bool in_place = false;
  bool keeps_codes = true;
  std::optional<PhiloxState> random = {};
};

/// kernels::run_forward on the device. Memory beyond what a pass may write stays as it is.
inline Forward device_forward(const Activation& activation, const StepView& steps, ElementType type,
                              const std::vector<uint8_t>& x, const How& how = {},
                              const double* parameters = nullptr) {
  const int64_t count = static_cast<int64_t>(x.size()) / element_bytes(type);
  const size_t offset = how.offset * static_cast<size_t>(element_bytes(type));
  Guarded in = guarded(x, offset);
  Guarded out(x.size(), offset);
  Guarded codes(static_cast<size_t>(code_bytes(count, steps.bits)), how.offset);
  Guarded& y = how.in_place ? in : out;
  uint8_t* const stream = how.keeps_codes ? codes.data() : nullptr;
  const PhiloxState random = how.random.value_or(PhiloxState{});
  const cudaError_t status =
      how.random ? activation_forward_unbiased(activation, parameters, steps,
                                               {&random.seed, random.offset}, type, in.data(),
                                               y.data(), stream, count, nullptr)
                 : activation_forward(activation, parameters, steps, type, in.data(), y.data(),
                                      stream, count, nullptr);
  EXPECT_EQ(status, cudaSuccess);
  EXPECT_TRUE(in.is_intact() && out.is_intact() && codes.is_intact());
  return {y.content(), codes.content()};
}

inline std::vector<uint8_t> device_backward(const StepView& steps, ElementType type,
                                            const std::vector<uint8_t>& dy,
                                            const std::vector<uint8_t>& codes,
                                            const How& how = {}) {
  const int64_t count = static_cast<int64_t>(dy.size()) / element_bytes(type);
  const size_t offset = how.offset * static_cast<size_t>(element_bytes(type));
  Guarded in = guarded(dy, offset);
  Guarded out(dy.size(), offset);
  Guarded stream = guarded(codes, how.offset);
  Guarded& dx = how.in_place ? in : out;
  EXPECT_EQ(activation_backward(steps, type, in.data(), stream.data(), dx.data(), count, nullptr),
            cudaSuccess);
  EXPECT_TRUE(in.is_intact() && out.is_intact() && stream.is_intact());
  return dx.content();
}

/// Counts around the sizes at which kernels do something else: vectors, tiles of a warp, blocks.
inline const std::vector<int64_t>& telling_counts() {
  static const std::vector<int64_t> counts = {0,    1,    7,    8,    31,   127,  1000, 1023,
                                              1024, 1025, 2047, 3100, 8191, 8192, 8193, 17000};
  return counts;
}

inline constexpr ElementType kTypes[] = {ElementType::f32, ElementType::bf16, ElementType::f16,
                                         ElementType::f64};

}  // namespace fewbit::kernels::cuda
