// Only where the kernels and libtorch have CUDA. What is enqueued is the current stream's of x's
// device; nothing here waits for it.
#include <mutex>

#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

#include "kernels/cuda/activation.hpp"
#include "ops/activation_passes.hpp"

namespace fewbit::ops {

namespace {

/// The launchers throw nothing and leave the error of a launch for us to clear.
void check_launch(const char* operation, cudaError_t status) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  TORCH_CHECK(false, operation, ": CUDA error: ", cudaGetErrorString(status), " (",
              cudaGetErrorName(status), ")");
}

const kernels::cuda::Activation& cuda_function(const char* operation, const FunctionCall& call) {
  const kernels::cuda::Activation* found = kernels::cuda::find_activation(call.function.name);
  TORCH_CHECK(found != nullptr, operation, ": ", call.function.name,
              " has no CUDA kernels: the project that added it was built without CUDA among its "
              "languages");
  return *found;
}

struct Cuda {
  static constexpr at::DeviceType kType = at::kCUDA;

  static void forward(const char* operation, const FunctionCall& call,
                      const kernels::StepView& step, const Elements& at, uint8_t* codes) {
    check_launch(operation,
                 kernels::cuda::forward(cuda_function(operation, call), call.parameters.data(),
                                        step, at.type, at.from, at.to, codes, at.count,
                                        c10::cuda::getCurrentCUDAStream()));
  }

  static void forward_unbiased(const char* operation, const FunctionCall& call,
                               const kernels::StepView& step, kernels::PhiloxState random,
                               const Elements& at, uint8_t* codes) {
    check_launch(operation,
                 kernels::cuda::forward_unbiased(
                     cuda_function(operation, call), call.parameters.data(), step, random, at.type,
                     at.from, at.to, codes, at.count, c10::cuda::getCurrentCUDAStream()));
  }

  static void backward(const char* operation, const kernels::StepView& step, const Elements& at,
                       const uint8_t* codes) {
    check_launch(operation, kernels::cuda::backward(step, at.type, at.from, codes, at.to, at.count,
                                                    c10::cuda::getCurrentCUDAStream()));
  }

  /// 64 bits of the generator's own stream, as the CPU's draw: a counter that torch's kernels,
  /// which count threads in the upper half, do not reach.
  static kernels::PhiloxState draw(const char* operation,
                                   const std::optional<at::Generator>& generator) {
    TORCH_CHECK(c10::cuda::currentStreamCaptureStatusMayInitCtx() == c10::cuda::CaptureStatus::None,
                operation, ": a table of the unbiased form cannot be used while a CUDA graph is ",
                "captured: its random numbers would be the same at every replay");
    auto* source = at::get_generator_or_default<at::CUDAGeneratorImpl>(
        generator, at::cuda::detail::getDefaultCUDAGenerator());
    const std::lock_guard lock(source->mutex_);
    const at::PhiloxCudaState state = source->philox_cuda_state(4);
    const kernels::PhiloxWords words =
        kernels::philox(state.offset_.val, ~uint64_t{0}, state.seed_.val);
    return {words.word[0] | uint64_t{words.word[1]} << 32, 0};
  }
};

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, CUDA, m) {
  m.impl("activation_forward", Operations<Cuda>::forward);
  m.impl("activation_value", Operations<Cuda>::value);
  m.impl("activation_backward", Operations<Cuda>::backward);
}

}  // namespace fewbit::ops
