#pragma once

#include <type_traits>
#include <utility>

#include "kernels/activation/cuda/arguments.hpp"

namespace fewbit::kernels::cuda {

/// What kernels know of a function: the generated forms of f and f'.
template <auto kFloat, auto kBrief, auto kWide, auto kDerivative>
struct Function {
  /// f(x), good to the type it is rounded to.
  template <ElementType kType>
  static FEWBIT_HD float value(float x, const Parameters& parameters) {
    if constexpr (kType == ElementType::f32) {
      return call<kFloat>(x, parameters, indices_of(kFloat));
    } else {
      return call<kBrief>(x, parameters, indices_of(kBrief));
    }
  }

  static FEWBIT_HD double wide(double x, const Parameters& parameters) {
    return call<kWide>(x, parameters, indices_of(kWide));
  }

  /// f'(x), the same digits as on the host.
  static FEWBIT_HD float derivative(float x, const Parameters& parameters) {
    return call<kDerivative>(x, parameters, indices_of(kDerivative));
  }

 private:
  template <class Real, class... Parameter>
  static FEWBIT_HD constexpr std::index_sequence_for<Parameter...> indices_of(
      Real (*)(Real, Parameter...)) {
    return {};
  }

  template <auto kF, class Real, size_t... I>
  static FEWBIT_HD Real call(Real x, [[maybe_unused]] const Parameters& parameters,
                             std::index_sequence<I...>) {
    if constexpr (sizeof(Real) == sizeof(double)) {
      return kF(x, parameters.wide[I]...);
    } else {
      return kF(x, parameters.value[I]...);
    }
  }
};

}  // namespace fewbit::kernels::cuda
