#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "functions/registry.hpp"

namespace fewbit::solver {

/// Every registered function with its defaults, and those with parameters at other values.
inline std::vector<std::string> every_function() {
  std::vector<std::string> names;
  for (const FunctionInfo& info : registry()) names.push_back(info.name);
  for (const char* other :
       {"leaky_relu:negative_slope=-0.2", "threshold:threshold=-1,value=2", "hardtanh:min=-2,max=3",
        "hardshrink:lambda=1.25", "softshrink:lambda=0.1", "celu:alpha=2.5", "elu:alpha=0.5",
        "swish:beta=1.7", "softplus:beta=2,threshold=5"}) {
    names.emplace_back(other);
  }
  return names;
}

/// `count` irregular points in (-end, end).
inline std::vector<double> irregular_points(double end, int count) {
  constexpr double kGoldenRatio = 0.61803398874989484820;
  std::vector<double> points;
  for (int i = 1; i <= count; ++i) {
    points.push_back(end * (2.0 * (i * kGoldenRatio - std::floor(i * kGoldenRatio)) - 1.0));
  }
  return points;
}

}  // namespace fewbit::solver
