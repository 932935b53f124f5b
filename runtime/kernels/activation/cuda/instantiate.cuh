#pragma once

#include "kernels/activation/cuda/encode.cuh"
#include "kernels/activation/cuda/forward.cuh"
#include "kernels/activation/cuda/launch.hpp"

/// Makes the kernels of a function; generated/cuda has a file for each.
namespace fewbit::kernels::cuda {

template <class F, ElementType kType>
cudaError_t launch_forward(const ForwardArguments& pass, cudaStream_t stream) {
  if constexpr (kType == ElementType::f64) {
    const int64_t blocks = (pass.count + kThreads - 1) / kThreads;
    return launch(forward_doubles_kernel<F>, blocks, stream, static_cast<const double*>(pass.x),
                  static_cast<double*>(pass.y), pass.count, pass.parameters);
  } else {
    return launch(forward_kernel<F, kType>, grid_of(pass.count), stream, pass);
  }
}

template <class F, ElementType kType>
cudaError_t launch_round(const EncodeArguments& pass, const RoundingTable& table,
                         const Parameters& parameters, DevicePhilox random, cudaStream_t stream) {
  return launch(round_kernel<F, kType>, grid_of(pass.count), stream, pass, table, parameters,
                random);
}

template <class F>
constexpr FunctionLaunchers launchers_of() {
  using enum ElementType;
  return {
      {launch_forward<F, f32>, launch_forward<F, bf16>, launch_forward<F, f16>,
       launch_forward<F, f64>},
      {launch_round<F, f32>, launch_round<F, bf16>, launch_round<F, f16>, launch_round<F, f64>}};
}

}  // namespace fewbit::kernels::cuda

/// The launchers of generated::NAME, under the name that a registry (FEWBIT_REGISTRY_NAME) looks
/// for.
#define FEWBIT_CUDA_FUNCTION(registry, name)                                                       \
  namespace fewbit::kernels::cuda::registry {                                                      \
  extern const FunctionLaunchers name##_launchers;                                                 \
  const FunctionLaunchers name##_launchers =                                                       \
      launchers_of<Function<&generated::name::warp_activation, &generated::name::brief_activation, \
                            &generated::name::wide_activation, &generated::name::derivative>>();   \
  }
