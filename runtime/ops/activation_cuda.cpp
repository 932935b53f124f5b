// Only where the kernels and libtorch have CUDA. What is enqueued is the current stream's of x's
// device; nothing here waits for it.
#include <torch/library.h>

#include "kernels/activation/cuda/activation.hpp"
#include "ops/activation_passes.hpp"
#include "ops/cuda_launch.hpp"

namespace fewbit::ops {

namespace {

const kernels::cuda::Activation& cuda_function(const char* operation, const FunctionCall& call) {
  const kernels::cuda::Activation* found = kernels::cuda::find_activation(call.function.name);
  TORCH_CHECK(found != nullptr, operation, ": ", call.function.name,
              " has no CUDA kernels: the project that added it was built without CUDA among its "
              "languages");
  return *found;
}

struct Cuda {
  static constexpr at::DeviceType kType = kCudaType;

  static void forward(const char* operation, const FunctionCall& call,
                      const kernels::StepView& step, const Elements& at, uint8_t* codes) {
    check_launch(operation, kernels::cuda::activation_forward(
                                cuda_function(operation, call), call.parameters.data(), step,
                                at.type, at.from, at.to, codes, at.count, current_cuda_stream()));
  }

  static void forward_unbiased(const char* operation, const FunctionCall& call,
                               const kernels::StepView& step, const int64_t* seed,
                               const Elements& at, uint8_t* codes) {
    const kernels::DevicePhilox random = device_philox(seed, 0);
    check_launch(operation,
                 kernels::cuda::activation_forward_unbiased(
                     cuda_function(operation, call), call.parameters.data(), step, random, at.type,
                     at.from, at.to, codes, at.count, current_cuda_stream()));
  }

  static void backward(const char* operation, const kernels::StepView& step, const Elements& at,
                       const uint8_t* codes) {
    check_launch(operation, kernels::cuda::activation_backward(step, at.type, at.from, codes, at.to,
                                                               at.count, current_cuda_stream()));
  }
};

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, FEWBIT_CUDA_KEY, m) {
  m.impl("activation_forward", unpacked<Operations<Cuda>::forward>);
  m.impl("activation_value", Operations<Cuda>::value);
  m.impl("activation_backward", Operations<Cuda>::backward);
  m.impl("activation_backward_", Operations<Cuda>::backward_in_place);
}

}  // namespace fewbit::ops
