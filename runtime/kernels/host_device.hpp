#pragma once

/// What runs on both sides: CUDA kernels are made of such functions, and tests run them on the
/// host. The same macro as in generated/math.hpp.
#if !defined(FEWBIT_HD)
#if defined(__CUDACC__)
#define FEWBIT_HD __host__ __device__
#else
#define FEWBIT_HD
#endif
#endif
