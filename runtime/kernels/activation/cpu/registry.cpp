// The activations of a registry, with the kernels that values.cpp made of it.
#if !defined(FEWBIT_REGISTRY)
#define FEWBIT_REGISTRY "generated/registry.inc"
#define FEWBIT_REGISTRY_NAME builtin
#endif

#include <iterator>
#include <span>
#include <utility>

#include "kernels/activation/activation.hpp"
#include "kernels/activation/cpu/function_kernels.hpp"

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
  double parameters[8];
  double rounded[8];  ///< to float
  float narrow[8];
};

struct Kinks {
  int count;
  double at[16];
};

template <class... Value>
constexpr Entry entry(const char* name, Value... parameters) {
  static_assert(sizeof...(parameters) <= 8);
  return {name,
          sizeof...(parameters),
          {parameters...},
          {static_cast<double>(static_cast<float>(parameters))...},
          {static_cast<float>(parameters)...}};
}

#define FEWBIT_FUNCTION(name, ...) entry(#name __VA_OPT__(, ) __VA_ARGS__),
constexpr Entry kEntries[] = {
#include FEWBIT_REGISTRY
};

#define FEWBIT_KINKS(name, count, ...) {count, {__VA_ARGS__}},
constexpr Kinks kKinks[] = {
#include FEWBIT_REGISTRY
};

constexpr size_t kCount = std::size(kEntries);
static_assert(std::size(kKinks) == kCount);

template <size_t kIndex>
DefaultFunction function() {
  const Entry& entry = kEntries[kIndex];
  return {kBaselineKernels[kIndex].value64, entry.rounded, entry.narrow, kKinks[kIndex].count,
          kKinks[kIndex].at};
}

template <size_t kIndex>
const Fitted& fitted() {
  static const Fitted fitted = fit(function<kIndex>());
  return fitted;
}

template <size_t kIndex, ElementType kType>
const HalfValues& halves() {
  static const HalfValues values =
      tabulate_halves(kType, kBaselineKernels[kIndex].slope, function<kIndex>());
  return values;
}

template <size_t kIndex>
const HalfValues& halves(ElementType type) {
  return type == ElementType::bf16 ? halves<kIndex, ElementType::bf16>()
                                   : halves<kIndex, ElementType::f16>();
}

template <size_t kIndex, ElementType kType>
const HalfSource& half_source(FindHalfSource* find) {
  static const HalfSource source = find(kType, halves<kIndex, kType>(), fitted<kIndex>());
  return source;
}

template <size_t kIndex>
const HalfSource& half_source(ElementType type, FindHalfSource* find) {
  return type == ElementType::bf16 ? half_source<kIndex, ElementType::bf16>(find)
                                   : half_source<kIndex, ElementType::f16>(find);
}

struct Registry {
  FunctionKernels kernels[kCount];
  Activation activations[kCount];

  Registry() { fill(std::make_index_sequence<kCount>()); }

  template <size_t... I>
  void fill(std::index_sequence<I...>) {
    (fill<I>(), ...);
  }

  template <size_t kIndex>
  void fill() {
    kernels[kIndex] = {{kBaselineKernels[kIndex], kAvx2Kernels[kIndex], kAvx512Kernels[kIndex]},
                       function<kIndex>(),
                       fitted<kIndex>,
                       halves<kIndex>,
                       half_source<kIndex>};
    activations[kIndex] = {kEntries[kIndex].name, kEntries[kIndex].parameter_count,
                           kEntries[kIndex].parameters, &kernels[kIndex]};
  }
};

}  // namespace

std::span<const Activation> activations() {
  static const Registry registry;
  return registry.activations;
}

}  // namespace fewbit::kernels::FEWBIT_REGISTRY_NAME
