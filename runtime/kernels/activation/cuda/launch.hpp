#pragma once

#include <cuda_runtime_api.h>

#include "kernels/activation/cuda/activation.hpp"
#include "kernels/activation/cuda/arguments.hpp"

namespace fewbit::kernels::cuda {

/// The launchers of a function's kernels, by ElementType. `round` finds the codes of the unbiased
/// form.
struct FunctionLaunchers {
  using Forward = cudaError_t(const ForwardArguments&, cudaStream_t);
  using Round = cudaError_t(const EncodeArguments&, const RoundingTable&, const Parameters&,
                            DevicePhilox, cudaStream_t);
  Forward* forward[4];
  Round* round[4];
};

/// Those that no function has its own of. Bisection serves every table.
cudaError_t launch_bisection(ElementType type, const EncodeArguments& pass, const StepView& steps,
                             cudaStream_t stream);
cudaError_t launch_backward(ElementType type, const BackwardArguments& pass, const StepView& steps,
                            cudaStream_t stream);

}  // namespace fewbit::kernels::cuda
