// Compiled with every compiler and its own warnings: every generated function on the host.
#include "generated/functions.hpp"

#define FEWBIT_FUNCTION(name, ...)                                                   \
  float name##_all(float x) {                                                        \
    return fewbit::generated::name::activation(x __VA_OPT__(, ) __VA_ARGS__) +       \
           fewbit::generated::name::derivative(x __VA_OPT__(, ) __VA_ARGS__) +       \
           fewbit::generated::name::brief_activation(x __VA_OPT__(, ) __VA_ARGS__) + \
           fewbit::generated::name::warp_activation(x __VA_OPT__(, ) __VA_ARGS__);   \
  }
#include "generated/registry.inc"
