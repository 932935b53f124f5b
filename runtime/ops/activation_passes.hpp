#pragma once

#include <tuple>
#include <vector>

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>

#include "kernels/philox.hpp"
#include "ops/activation.hpp"
#include "ops/arguments.hpp"
#include "ops/layout.hpp"

// The operations as every device runs them: arguments checked, results allocated, and a device's
// passes over the memory of dense tensors between.

namespace fewbit::ops {

/// What a pass reads and writes, on the current device.
struct Elements {
  kernels::ElementType type;
  const void* from;
  void* to;
  int64_t count;
};

/// A function of the registry with parameter_count parameters.
struct FunctionCall {
  const kernels::Activation& function;
  std::vector<double> parameters;
};

inline FunctionCall check_call(const char* operation, c10::string_view function,
                               Parameters parameters) {
  const kernels::Activation& known = check_function(operation, std::string(function));
  return {known, check_parameters(operation, known, parameters)};
}

/// `Device` has kType and the static functions
///   forward(operation, FunctionCall, StepView, Elements, codes)   codes null: values only
///   forward_unbiased(operation, FunctionCall, StepView, PhiloxState, Elements, codes)
///   backward(operation, StepView, Elements, codes)
///   draw(operation, generator)    one draw of the user's generator, the key of all of a call's
///                                 random numbers
template <class Device>
struct Operations {
  static std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& x, c10::string_view function,
                                                    Parameters parameters,
                                                    const at::Tensor& thresholds,
                                                    const at::Tensor& interval_codes,
                                                    const at::Tensor& levels, bool even,
                                                    const std::optional<at::Generator>& generator) {
    constexpr const char* kName = "fewbit::activation_forward";
    check_device(kName, "x", x, Device::kType);
    const FunctionCall call = check_call(kName, function, parameters);
    const kernels::ElementType type = check_element_type(kName, x);
    const kernels::StepView step =
        check_step(kName, {thresholds, interval_codes, levels, even}, type);
    const c10::DeviceGuard guard(x.device());
    const at::Tensor in = dense(x);
    at::Tensor y = like(x);
    at::Tensor codes =
        at::empty({kernels::code_bytes(in.numel(), step.bits)}, in.options().dtype(at::kByte));
    const Elements elements = elements_of(type, in, y);
    auto* stream = codes.mutable_data_ptr<uint8_t>();
    if (step.codes != nullptr) {
      Device::forward(kName, call, step, elements, stream);
    } else {
      const kernels::PhiloxState random = Device::draw(kName, generator);
      Device::forward_unbiased(kName, call, step, random, elements, stream);
    }
    return {y, codes};
  }

  static at::Tensor value(const at::Tensor& x, c10::string_view function, Parameters parameters) {
    constexpr const char* kName = "fewbit::activation_value";
    const FunctionCall call = check_call(kName, function, parameters);
    const kernels::ElementType type = check_element_type(kName, x);
    const c10::DeviceGuard guard(x.device());
    const at::Tensor in = dense(x);
    at::Tensor y = like(x);
    Device::forward(kName, call, {}, elements_of(type, in, y), nullptr);
    return y;
  }

  static at::Tensor backward(const at::Tensor& dy, const at::Tensor& codes,
                             const at::Tensor& levels) {
    constexpr const char* kName = "fewbit::activation_backward";
    check_device(kName, "dy", dy, Device::kType);
    const kernels::ElementType type = check_element_type(kName, dy);
    const kernels::StepView step = check_levels(kName, levels, type);
    check_codes(kName, codes, dy, step.bits);
    const c10::DeviceGuard guard(dy.device());
    const at::Tensor in = dense(dy);
    at::Tensor dx = like(dy);
    Device::backward(kName, step, elements_of(type, in, dx), codes.const_data_ptr<uint8_t>());
    return dx;
  }

 private:
  static Elements elements_of(kernels::ElementType type, const at::Tensor& in, at::Tensor& out) {
    return {type, in.const_data_ptr(), out.mutable_data_ptr(), in.numel()};
  }
};

}  // namespace fewbit::ops
