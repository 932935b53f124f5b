#pragma once

#include "kernels/activation/activation.hpp"

namespace fewbit::kernels {

/// y[i] = f(x[i]) for a block of kBlock elements; x and y do not overlap.
template <class T>
using ValueKernel = void(const T* x, T* y, const T* parameters);

/// A function's loops, compiled for one instruction set.
struct ValueKernels {
  ValueKernel<float>* value;
  ValueKernel<float>* slope;  ///< f'
  ValueKernel<double>* value64;
};

/// The instruction sets that values.cpp is compiled for; where a machine family has but one, it is
/// the first.
enum Isa { kBaseline, kAvx2, kAvx512, kIsaCount };

/// A function with its default parameters, as it is fitted to.
struct DefaultFunction {
  ValueKernel<double>* value;
  const double* parameters;  ///< as floats round them
  const float* narrow_parameters;
  int kink_count;       ///< negative: they are not known, and nothing is fitted
  const double* kinks;  ///< all of them between the largest floats: f is smooth between
};

}  // namespace fewbit::kernels
