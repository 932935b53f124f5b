#include "bench/accuracy/subjects.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include <ATen/ATen.h>
#include <hwy/highway.h>
#include <torch/csrc/autograd/autograd.h>

#include "bench/accuracy/libtorch_functions.hpp"
#include "kernels/activation/cpu/function_kernels.hpp"

namespace fewbit::bench {

namespace {

using kernels::Activation;
using kernels::kBlock;

constexpr auto kCount = static_cast<int64_t>(kChunk);
static_assert(kCount % kBlock == 0);

const Activation& activation_of(const std::string& name) {
  if (const Activation* activation = kernels::find_activation(name)) return *activation;
  throw std::invalid_argument("no kernels for " + name);
}

void run_blocks(kernels::ValueKernel<float>* kernel, const Activation& activation, const float* x,
                float* y) {
  const float* const parameters = activation.kernels->function.narrow_parameters;
  for (int64_t i = 0; i < kCount; i += kBlock) kernel(x + i, y + i, parameters);
}

kernels::Isa widest_isa() {
  const int64_t targets = hwy::SupportedTargets();
  if ((targets & HWY_AVX3) != 0) return kernels::kAvx512;
  return (targets & HWY_AVX2) != 0 ? kernels::kAvx2 : kernels::kBaseline;
}

void run_code(const Activation& activation, const float* x, float* value, float* slope) {
  const kernels::ValueKernels& code = activation.kernels->isa[kernels::kBaseline];
  run_blocks(code.value, activation, x, value);
  run_blocks(code.slope, activation, x, slope);
}

void run_kernel(const Activation& activation, const float* x, float* value, float* slope) {
  kernels::activation_forward(activation, nullptr, {}, kernels::ElementType::f32, x, value, nullptr,
                              {0, kCount, kCount});
  run_blocks(activation.kernels->isa[widest_isa()].slope, activation, x, slope);
}

void run_libtorch(LibtorchFunction function, const float* x, float* value, float* slope) {
  const at::Tensor input = at::from_blob(const_cast<float*>(x), {kCount}, at::kFloat);
  const at::Tensor leaf = input.detach().requires_grad_();
  const at::Tensor y = function(leaf);
  const at::Tensor dx = torch::autograd::grad({y}, {leaf}, {at::ones_like(y)})[0].contiguous();
  std::copy_n(y.const_data_ptr<float>(), kCount, value);
  std::copy_n(dx.const_data_ptr<float>(), kCount, slope);
}

}  // namespace

std::vector<Subject> subjects_of(const std::string& name) {
  const Activation& activation = activation_of(name);
  const LibtorchFunction libtorch = libtorch_functions().at(name);
  const auto bind = [](auto run, auto what) {
    return [=](const float* x, float* value, float* slope) { run(what, x, value, slope); };
  };
  return {{"code", bind(run_code, std::cref(activation))},
          {"kernel", bind(run_kernel, std::cref(activation))},
          {"libtorch", bind(run_libtorch, libtorch)}};
}

}  // namespace fewbit::bench
