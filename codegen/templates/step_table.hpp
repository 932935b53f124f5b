#pragma once

#include <cstdint>

namespace fewbit::generated {

/// A solved few-bit derivative q(x) = levels[codes[i]], i the number of thresholds t with x > t
/// (|x| > t where `even`). Unbiased tables have neither thresholds nor codes: x takes one of the
/// two levels around f'(x) at random so that the expectation is f'(x).
struct StepTable {
  const char* name;    ///< the table's file: "levels_uniform_b3"
  const char* form;    ///< "intervals", "levels", "unbiased"
  const char* weight;  ///< "uniform", "normal (mean 0, sigma 1)", ...
  int bits;            ///< of one stored code
  bool even;           ///< thresholds cut |x|
  int threshold_count;
  int level_count;
  int parameter_count;
  const float* thresholds;  ///< ascending; the largest floats not above the solved ones
  const uint8_t* codes;     ///< threshold_count + 1, or null
  const float* levels;      ///< ascending
  const float* parameters;  ///< of the function, in declared order
  double lo;                ///< the domain
  double hi;
  double error;        ///< attained: integral of w (f' - q)^2
  double lower_bound;  ///< of any table of this form and size
};

}  // namespace fewbit::generated
