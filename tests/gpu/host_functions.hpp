#pragma once

#include <cstring>
#include <iterator>

#include "generated/functions.hpp"
#include "tests/support/at_float.hpp"

namespace fewbit::kernels::cuda {

/// A function of the registry on the host, with its default parameters.
struct HostFunction {
  const char* name;
  double (*value)(double);  ///< to a few ulp
  float (*slope)(float);    ///< f'(x), the same digits as on the device
};

#define FEWBIT_FUNCTION(name, ...)                                                                 \
  {#name, [](double x) { return generated::name::wide_activation(x __VA_OPT__(, ) __VA_ARGS__); }, \
   [](float x) {                                                                                   \
     return test::at_float<&generated::name::derivative>(x __VA_OPT__(, ) __VA_ARGS__);            \
   }},
inline constexpr HostFunction kHostFunctions[] = {
#include "generated/registry.inc"
};

inline const HostFunction& host_function(const char* name) {
  return *std::find_if(std::begin(kHostFunctions), std::end(kHostFunctions),
                       [&](const HostFunction& f) { return std::strcmp(f.name, name) == 0; });
}

}  // namespace fewbit::kernels::cuda
