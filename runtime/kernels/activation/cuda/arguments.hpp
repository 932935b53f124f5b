#pragma once

#include <cstdint>

#include "kernels/activation/cuda/search.hpp"
#include "kernels/activation/cuda/step_sum.hpp"

/// What kernels take by value: pointers of the device, and tables as they are looked up.
namespace fewbit::kernels::cuda {

/// A function's parameters in declared order.
struct Parameters {
  static constexpr int kMax = 8;
  float value[kMax];
  double wide[kMax];  ///< the same, not rounded
};

struct ForwardArguments {
  const void* x;
  void* y;
  uint8_t* codes;  ///< null: values only
  int64_t count;
  bool is_aligned;  ///< all of them, for 16-byte accesses
  Parameters parameters;
  StepSum steps;
};

/// A pass that finds codes only.
struct EncodeArguments {
  const void* x;
  uint8_t* codes;
  int64_t count;
  bool is_aligned;  ///< codes
  int bits;
};

struct Levels {
  float level[256];  ///< zero where the table has none
  bool has_zero;
};

/// Of doubles.
struct WideLevels {
  double level[256];
  bool has_zero;
};

struct BackwardArguments {
  const void* dy;
  const uint8_t* codes;
  void* dx;
  int64_t count;
  bool is_aligned;
};

/// Whether a table goes into a StepSum.
bool is_summed(const StepView& steps, ElementType type);

Parameters parameters_of(const double* values, int count);

StepSum step_sum(const StepView& steps, ElementType type);
/// Of float or double.
template <class Real>
BisectionTable<Real> bisection_table(const StepView& steps);
RoundingTable rounding_table(const StepView& steps);
Levels levels_of(const StepView& steps);
WideLevels wide_levels_of(const StepView& steps);

}  // namespace fewbit::kernels::cuda
