#include <torch/library.h>

#include "ops/activation_passes.hpp"
#include "ops/ranges.hpp"

namespace fewbit::ops {

namespace {

struct Cpu {
  static constexpr at::DeviceType kType = at::kCPU;

  static void forward(const char*, const FunctionCall& call, const kernels::StepView& step,
                      const Elements& at, uint8_t* codes) {
    for_ranges(at.count, [&](const kernels::Range& range) {
      kernels::activation_forward(call.function, call.parameters.data(), step, at.type, at.from,
                                  at.to, codes, range);
    });
  }

  static void forward_unbiased(const char*, const FunctionCall& call, const kernels::StepView& step,
                               const int64_t* seed, const Elements& at, uint8_t* codes) {
    const kernels::PhiloxState random{static_cast<uint64_t>(*seed), 0};
    for_ranges(at.count, [&](const kernels::Range& range) {
      kernels::activation_forward_unbiased(call.function, call.parameters.data(), step, random,
                                           at.type, at.from, at.to, codes, range);
    });
  }

  static void backward(const char*, const kernels::StepView& step, const Elements& at,
                       const uint8_t* codes) {
    for_ranges(at.count, [&](const kernels::Range& range) {
      kernels::activation_backward(step, at.type, at.from, codes, at.to, range);
    });
  }
};

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, CPU, m) {
  m.impl("activation_forward", unpacked<Operations<Cpu>::forward>);
  m.impl("activation_value", Operations<Cpu>::value);
  m.impl("activation_backward", Operations<Cpu>::backward);
}

}  // namespace fewbit::ops
