#include <mutex>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include "ops/activation.hpp"
#include "ops/arguments.hpp"
#include "ops/ranges.hpp"

namespace fewbit::ops {

namespace {

/// One draw of the user's generator is the key of all of a call's random numbers.
kernels::PhiloxState draw(const std::optional<at::Generator>& generator) {
  auto* source = at::get_generator_or_default<at::CPUGeneratorImpl>(
      generator, at::detail::getDefaultCPUGenerator());
  const std::lock_guard lock(source->mutex_);
  return {source->random64(), 0};
}

std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& x, c10::string_view function,
                                           Parameters parameters, const at::Tensor& thresholds,
                                           const at::Tensor& interval_codes,
                                           const at::Tensor& levels, bool even,
                                           const std::optional<at::Generator>& generator) {
  constexpr const char* kName = "fewbit::activation_forward";
  const kernels::Activation& known = check_function(kName, std::string(function));
  const std::vector<float> values = check_parameters(kName, known, parameters);
  const kernels::StepView step = check_step(kName, {thresholds, interval_codes, levels, even});
  const kernels::ElementType type = check_element_type(kName, x);
  const at::Tensor in = dense(x);
  at::Tensor y = at::empty_like(in);
  at::Tensor codes =
      at::empty({kernels::code_bytes(in.numel(), step.bits)}, in.options().dtype(at::kByte));
  const void* from = in.const_data_ptr();
  void* to = y.mutable_data_ptr();
  auto* stream = codes.mutable_data_ptr<uint8_t>();
  if (step.codes != nullptr) {
    for_ranges(in.numel(), [&](const kernels::Range& range) {
      kernels::forward(known, values.data(), step, type, from, to, stream, range);
    });
  } else {
    const kernels::PhiloxState random = draw(generator);
    for_ranges(in.numel(), [&](const kernels::Range& range) {
      kernels::forward_unbiased(known, values.data(), step, random, type, from, to, stream, range);
    });
  }
  return {y, codes};
}

at::Tensor value(const at::Tensor& x, c10::string_view function, Parameters parameters) {
  constexpr const char* kName = "fewbit::activation_value";
  const kernels::Activation& known = check_function(kName, std::string(function));
  const std::vector<float> values = check_parameters(kName, known, parameters);
  const kernels::ElementType type = check_element_type(kName, x);
  const at::Tensor in = dense(x);
  at::Tensor y = at::empty_like(in);
  const void* from = in.const_data_ptr();
  void* to = y.mutable_data_ptr();
  for_ranges(in.numel(), [&](const kernels::Range& range) {
    kernels::forward(known, values.data(), {}, type, from, to, nullptr, range);
  });
  return y;
}

at::Tensor backward(const at::Tensor& dy, const at::Tensor& codes, const at::Tensor& levels) {
  constexpr const char* kName = "fewbit::activation_backward";
  const kernels::StepView step = check_levels(kName, levels);
  const kernels::ElementType type = check_element_type(kName, dy);
  check_codes(kName, codes, dy, step.bits);
  const at::Tensor in = dense(dy);
  at::Tensor dx = at::empty_like(in);
  const void* from = in.const_data_ptr();
  void* to = dx.mutable_data_ptr();
  const auto* stream = codes.const_data_ptr<uint8_t>();
  for_ranges(in.numel(), [&](const kernels::Range& range) {
    kernels::backward(step, type, from, stream, to, range);
  });
  return dx;
}

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, CPU, m) {
  m.impl("activation_forward", forward);
  m.impl("activation_value", value);
  m.impl("activation_backward", backward);
}

}  // namespace fewbit::ops
