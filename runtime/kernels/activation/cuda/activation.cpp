#include "kernels/activation/cuda/activation.hpp"

#include <algorithm>

#include "kernels/activation/cuda/launch.hpp"
#include "kernels/activation/known_activations.hpp"

namespace fewbit::kernels::cuda {

namespace builtin {
std::span<const Activation> activations();
}

namespace {

KnownActivations<Activation>& known() {
  static KnownActivations<Activation> known(activations());
  return known;
}

/// For accesses of 16 bytes.
template <class... Pointer>
bool are_aligned(Pointer... at) {
  return ((reinterpret_cast<uintptr_t>(at) % 16 == 0) && ...);
}

cudaError_t launch_forward(const Activation& activation, ElementType type,
                           const ForwardArguments& pass, cudaStream_t stream) {
  return activation.launchers->forward[static_cast<int>(type)](pass, stream);
}

}  // namespace

std::span<const Activation> activations() {
  return builtin::activations();
}

const Activation* find_activation(std::string_view name) {
  return known().find(name);
}

bool register_activation(const Activation& activation) {
  return known().add(activation);
}

cudaError_t activation_forward(const Activation& activation, const double* parameters,
                               const StepView& steps, ElementType type, const void* x, void* y,
                               uint8_t* codes, int64_t count, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  ForwardArguments pass = {x,
                           y,
                           nullptr,
                           count,
                           are_aligned(x, y),
                           parameters_of(parameters ? parameters : activation.default_parameters,
                                         activation.parameter_count),
                           {}};
  if (codes == nullptr) return launch_forward(activation, type, pass, stream);
  if (is_summed(steps, type)) {
    pass.codes = codes;
    pass.is_aligned = are_aligned(x, y, codes);
    pass.steps = step_sum(steps, type);
    return launch_forward(activation, type, pass, stream);
  }
  // Codes first: y may be x.
  const EncodeArguments encode = {x, codes, count, are_aligned(codes), steps.bits};
  const cudaError_t status = launch_bisection(type, encode, steps, stream);
  return status == cudaSuccess ? launch_forward(activation, type, pass, stream) : status;
}

cudaError_t activation_forward_unbiased(const Activation& activation, const double* parameters,
                                        const StepView& steps, DevicePhilox random,
                                        ElementType type, const void* x, void* y, uint8_t* codes,
                                        int64_t count, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  const ForwardArguments pass = {
      x,
      y,
      nullptr,
      count,
      are_aligned(x, y),
      parameters_of(parameters ? parameters : activation.default_parameters,
                    activation.parameter_count),
      {}};
  const EncodeArguments encode = {x, codes, count, are_aligned(codes), steps.bits};
  const auto round = activation.launchers->round[static_cast<int>(type)];
  const cudaError_t status = round(encode, rounding_table(steps), pass.parameters, random, stream);
  return status == cudaSuccess ? launch_forward(activation, type, pass, stream) : status;
}

cudaError_t activation_backward(const StepView& steps, ElementType type, const void* dy,
                                const uint8_t* codes, void* dx, int64_t count,
                                cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  const BackwardArguments pass = {dy, codes, dx, count, are_aligned(dy, codes, dx)};
  return launch_backward(type, pass, steps, stream);
}

}  // namespace fewbit::kernels::cuda
