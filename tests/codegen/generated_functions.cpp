// Compiled with every compiler and its own warnings: every generated function on the host.
#include "generated/functions.hpp"
#include "generated/normal_quantizer.hpp"

template <auto F, class... Parameter>
float at_float(float x, Parameter... parameters) {
  return F(x, static_cast<float>(parameters)...);
}

#define AT_FLOAT(name, function, ...) \
  at_float<&fewbit::generated::name::function>(x __VA_OPT__(, ) __VA_ARGS__)
#define FEWBIT_FUNCTION(name, ...)                                       \
  float name##_all(float x) {                                            \
    return AT_FLOAT(name, activation __VA_OPT__(, ) __VA_ARGS__) +       \
           AT_FLOAT(name, derivative __VA_OPT__(, ) __VA_ARGS__) +       \
           AT_FLOAT(name, brief_activation __VA_OPT__(, ) __VA_ARGS__) + \
           AT_FLOAT(name, warp_activation __VA_OPT__(, ) __VA_ARGS__);   \
  }
#include "generated/registry.inc"

float largest_level(int bits) {
  return fewbit::generated::normal_quantizer(bits).levels[(1 << (bits - 1)) - 1];
}
