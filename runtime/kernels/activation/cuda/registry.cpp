// The activations of a registry, with the launchers that generated/cuda made of it.
#if !defined(FEWBIT_REGISTRY)
#define FEWBIT_REGISTRY "generated/registry.inc"
#define FEWBIT_REGISTRY_NAME builtin
#endif

#include <span>

#include "kernels/activation/cuda/launch.hpp"

namespace fewbit::kernels::cuda::FEWBIT_REGISTRY_NAME {

#define FEWBIT_FUNCTION(name, ...) extern const FunctionLaunchers name##_launchers;
#include FEWBIT_REGISTRY

namespace {

#define FEWBIT_FUNCTION(name, ...) \
  constexpr double name##_parameters[] = {__VA_ARGS__ __VA_OPT__(, ) 0.0};
#include FEWBIT_REGISTRY

}  // namespace

std::span<const Activation> activations() {
#define FEWBIT_FUNCTION(name, ...)                                                            \
  {#name, static_cast<int>(sizeof name##_parameters / sizeof(double)) - 1, name##_parameters, \
   &name##_launchers},
  static constexpr Activation kActivations[] = {
#include FEWBIT_REGISTRY
  };
  return kActivations;
}

}  // namespace fewbit::kernels::cuda::FEWBIT_REGISTRY_NAME
