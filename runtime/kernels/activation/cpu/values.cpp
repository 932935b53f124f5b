// The loops over a block for every function of a registry. Compiled once per instruction set, with
// the compiler's flags for that set and FEWBIT_KERNELS naming the result: the generated functions
// are free of branches after if-conversion, so the compiler vectorises them. A library of other
// functions compiles this file again with its own FEWBIT_FUNCTIONS, FEWBIT_REGISTRY and
// FEWBIT_REGISTRY_NAME.
//
// Everything is forced inline, so that no function compiled for one instruction set can be taken by
// the linker for another.
#define FEWBIT_HD __attribute__((always_inline))

#if !defined(FEWBIT_FUNCTIONS)
#define FEWBIT_FUNCTIONS "generated/functions.hpp"
#define FEWBIT_REGISTRY "generated/registry.inc"
#define FEWBIT_REGISTRY_NAME builtin
#endif

#include "kernels/activation/cpu/values.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include FEWBIT_FUNCTIONS

namespace fewbit::kernels::FEWBIT_REGISTRY_NAME {

extern const ValueKernels FEWBIT_KERNELS[];

namespace {

/// F(x, parameters...) over a block; the parameters stay in registers.
template <auto F, class Type, class Indices>
struct Loop;

template <auto F, class Real, class... Parameter, size_t... I>
struct Loop<F, Real (*)(Real, Parameter...), std::index_sequence<I...>> {
  static void run(const Real* __restrict x, Real* __restrict y,
                  [[maybe_unused]] const Real* parameters) {
    const Real fixed[sizeof...(I) + 1] = {parameters[I]...};
    for (int64_t i = 0; i < kBlock; ++i) y[i] = F(x[i], fixed[I]...);
  }
};

template <class Real, class... Parameter>
constexpr std::index_sequence_for<Parameter...> indices_of(Real (*)(Real, Parameter...)) {
  return {};
}

template <auto F>
constexpr auto* loop = &Loop<F, decltype(F), decltype(indices_of(F))>::run;

}  // namespace

#define FEWBIT_FUNCTION(name, ...)                                         \
  {loop<&generated::name::activation>, loop<&generated::name::derivative>, \
   loop<&generated::name::wide_activation>},
const ValueKernels FEWBIT_KERNELS[] = {
#include FEWBIT_REGISTRY
};

}  // namespace fewbit::kernels::FEWBIT_REGISTRY_NAME
