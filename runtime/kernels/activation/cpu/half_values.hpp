#pragma once

#include <cstdint>
#include <vector>

#include "kernels/activation/cpu/values.hpp"

namespace fewbit::kernels {

/// A function of default parameters on a 16-bit type has 65,536 values, and one look at a table is
/// cheaper than most formulas: y[x] is f(x) rounded once from double.
struct HalfValues {
  /// Empty for a function of straight lines, whose loop is faster than a table.
  std::vector<uint16_t> y;
};

/// Takes about a millisecond. `type` is bf16 or f16.
HalfValues tabulate_halves(ElementType type, ValueKernel<float>* slope,
                           const DefaultFunction& function);

}  // namespace fewbit::kernels
