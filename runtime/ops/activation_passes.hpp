#pragma once

#include <tuple>

#include <ATen/core/Tensor.h>
#include <c10/core/DeviceGuard.h>

#include "ops/activation.hpp"
#include "ops/layout.hpp"
#include "ops/table_arguments.hpp"
#include "ops/tensor_arguments.hpp"

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

/// `Device` has kType and the static functions
///   forward(operation, FunctionCall, StepView, Elements, codes)   codes null: values only
///   forward_unbiased(operation, FunctionCall, StepView, seed, Elements, codes)
///                                                                 seed: in the device's memory
///   backward(operation, StepView, Elements, codes)
template <class Device>
struct Operations {
  static std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& x,
                                                    const ActivationArguments& arguments) {
    constexpr const char* kName = kActivationForward;
    const kernels::ElementType type = check_forward(Device::kType, x, arguments);
    const FunctionCall call = check_call(kName, arguments.function, arguments.parameters);
    const StepArrays steps(kName, arguments.table, type);
    const kernels::StepView& view = steps.view();
    const c10::DeviceGuard guard(x.device());
    const at::Tensor in = dense(x);
    at::Tensor y = like(x);
    at::Tensor codes = empty_codes(in.numel(), view.bits, in.options());
    const Elements elements = elements_of(type, in, y);
    auto* stream = codes.mutable_data_ptr<uint8_t>();
    if (arguments.table.is_unbiased()) {
      Device::forward_unbiased(kName, call, view, arguments.seed->const_data_ptr<int64_t>(),
                               elements, stream);
    } else {
      Device::forward(kName, call, view, elements, stream);
    }
    return {y, codes};
  }

  static at::Tensor value(const at::Tensor& x, c10::string_view function, Numbers parameters) {
    constexpr const char* kName = "fewbit::activation_value";
    const FunctionCall call = check_call(kName, function, parameters);
    const kernels::ElementType type = check_element_type(kName, x);
    const c10::DeviceGuard guard(x.device());
    const at::Tensor in = dense(x);
    at::Tensor y = like(x);
    Device::forward(kName, call, {}, elements_of(type, in, y), nullptr);
    return y;
  }

  static at::Tensor backward(const at::Tensor& dy, const at::Tensor& codes, Numbers levels) {
    const kernels::ElementType type = check_backward(Device::kType, dy, codes, levels);
    const StepArrays steps(kActivationBackward, levels, type);
    const c10::DeviceGuard guard(dy.device());
    const at::Tensor in = dense(dy);
    at::Tensor dx = like(dy);
    Device::backward(kActivationBackward, steps.view(), elements_of(type, in, dx),
                     codes.const_data_ptr<uint8_t>());
    return dx;
  }

  static void backward_in_place(const at::Tensor& dy, const at::Tensor& codes, Numbers levels) {
    const kernels::ElementType type = check_backward(Device::kType, dy, codes, levels);
    TORCH_CHECK_VALUE(dy.is_non_overlapping_and_dense(), kActivationBackward, "_: dy has strides ",
                      dy.strides(), " for sizes ", dy.sizes(), ", accepted: dense ones");
    const StepArrays steps(kActivationBackward, levels, type);
    const c10::DeviceGuard guard(dy.device());
    Device::backward(kActivationBackward, steps.view(), elements_of(type, dy, dy),
                     codes.const_data_ptr<uint8_t>());
  }

 private:
  static Elements elements_of(kernels::ElementType type, const at::Tensor& in,
                              const at::Tensor& out) {
    return {type, in.const_data_ptr(), out.mutable_data_ptr(), in.numel()};
  }
};

}  // namespace fewbit::ops
