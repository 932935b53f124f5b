#pragma once

#include <string>
#include <vector>

#include "generated/step_table.hpp"
#include "kernels/activation/cuda/activation.hpp"

namespace fewbit::bench {

/// A function and a table for so many bits.
struct GpuSubject {
  const kernels::cuda::Activation* function;
  std::string table;
  int bits;
  bool is_unbiased;
  kernels::StepView steps;
};

/// What is measured of a function: its default tables of 1 to 4 bits, the unbiased one of 3, and of
/// 8 bits one with 255 even steps; a function whose derivative is a step function has one bit.
std::vector<GpuSubject> subjects_of(const std::string& function);

/// The names of all functions.
std::vector<std::string> function_names();

}  // namespace fewbit::bench
