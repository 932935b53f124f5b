// Compiled, never run: every generated function as device code.
#include "generated/functions.hpp"
#include "generated/normal_quantizer.hpp"

#define FEWBIT_FUNCTION(name, ...)                                                             \
  __global__ void name##_kernel(const float* x, float* y) {                                    \
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                                  \
    y[4 * i] = fewbit::generated::name::activation(x[i] __VA_OPT__(, ) __VA_ARGS__);           \
    y[4 * i + 1] = fewbit::generated::name::derivative(x[i] __VA_OPT__(, ) __VA_ARGS__);       \
    y[4 * i + 2] = fewbit::generated::name::brief_activation(x[i] __VA_OPT__(, ) __VA_ARGS__); \
    y[4 * i + 3] = fewbit::generated::name::warp_activation(x[i] __VA_OPT__(, ) __VA_ARGS__);  \
  }
#include "generated/registry.inc"

/// What a kernel gets of a quantiser as its argument.
float largest_level(int bits) {
  return fewbit::generated::normal_quantizer(bits).levels[(1 << (bits - 1)) - 1];
}
