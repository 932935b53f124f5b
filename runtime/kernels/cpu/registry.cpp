// The activations of a registry, with the kernels that values.cpp made of it.
#if !defined(FEWBIT_REGISTRY)
#define FEWBIT_REGISTRY "generated/registry.inc"
#define FEWBIT_REGISTRY_NAME builtin
#endif

#include <span>

#include "kernels/activation.hpp"
#include "kernels/cpu/values.hpp"

namespace fewbit::kernels::FEWBIT_REGISTRY_NAME {

extern const ValueKernels kBaselineKernels[];
#if defined(FEWBIT_X86_KERNELS)
extern const ValueKernels kAvx2Kernels[];
extern const ValueKernels kAvx512Kernels[];
#else
constexpr const ValueKernels* kAvx2Kernels = kBaselineKernels;
constexpr const ValueKernels* kAvx512Kernels = kBaselineKernels;
#endif

namespace {

struct Entry {
  const char* name;
  int parameter_count;
  float parameters[8];
};

template <class... Value>
constexpr Entry entry(const char* name, Value... parameters) {
  static_assert(sizeof...(parameters) <= 8);
  return {name, sizeof...(parameters), {parameters...}};
}

#define FEWBIT_FUNCTION(name, ...) entry(#name __VA_OPT__(, ) __VA_ARGS__),
constexpr Entry kEntries[] = {
#include FEWBIT_REGISTRY
};

constexpr size_t kCount = std::size(kEntries);

struct Registry {
  ValueKernels kernels[kCount][kIsaCount];
  Activation activations[kCount];

  Registry() {
    for (size_t i = 0; i < kCount; ++i) {
      kernels[i][kBaseline] = kBaselineKernels[i];
      kernels[i][kAvx2] = kAvx2Kernels[i];
      kernels[i][kAvx512] = kAvx512Kernels[i];
      activations[i] = {kEntries[i].name, kEntries[i].parameter_count, kEntries[i].parameters,
                        kernels[i]};
    }
  }
};

}  // namespace

std::span<const Activation> activations() {
  static const Registry registry;
  return registry.activations;
}

}  // namespace fewbit::kernels::FEWBIT_REGISTRY_NAME
