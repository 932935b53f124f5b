#include <mutex>

#include <ATen/CPUGeneratorImpl.h>
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
      kernels::forward(call.function, call.parameters.data(), step, at.type, at.from, at.to, codes,
                       range);
    });
  }

  static void forward_unbiased(const char*, const FunctionCall& call, const kernels::StepView& step,
                               kernels::PhiloxState random, const Elements& at, uint8_t* codes) {
    for_ranges(at.count, [&](const kernels::Range& range) {
      kernels::forward_unbiased(call.function, call.parameters.data(), step, random, at.type,
                                at.from, at.to, codes, range);
    });
  }

  static void backward(const char*, const kernels::StepView& step, const Elements& at,
                       const uint8_t* codes) {
    for_ranges(at.count, [&](const kernels::Range& range) {
      kernels::backward(step, at.type, at.from, codes, at.to, range);
    });
  }

  static kernels::PhiloxState draw(const char*, const std::optional<at::Generator>& generator) {
    auto* source = at::get_generator_or_default<at::CPUGeneratorImpl>(
        generator, at::detail::getDefaultCPUGenerator());
    const std::lock_guard lock(source->mutex_);
    return {source->random64(), 0};
  }
};

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, CPU, m) {
  m.impl("activation_forward", Operations<Cpu>::forward);
  m.impl("activation_value", Operations<Cpu>::value);
  m.impl("activation_backward", Operations<Cpu>::backward);
}

}  // namespace fewbit::ops
