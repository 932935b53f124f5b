#pragma once

#include <limits>

namespace fewbit::solver {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace fewbit::solver
