#pragma once

#include <string>
#include <vector>

#include "table/table.hpp"

namespace fewbit::test {

/// Samples that take few values, and what to solve on them.
struct RandomSamples {
  solver::Problem problem;  ///< without the weight
  std::vector<double> numbers;
  std::string text;  ///< for messages
};

/// For use within a rapidcheck property: 2 to 40 different values: whole numbers, steps of a
/// quantiser, pairs x and -x, neighbouring doubles, places where f' jumps, magnitudes from 1e-12 to
/// 1e12 or any mixture, each once or many times, in order or not; a function of the registry with
/// any parameters or an expression; a form, 2 to 12 levels or about as many as there are values.
RandomSamples any_samples();

}  // namespace fewbit::test
