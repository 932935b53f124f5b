#pragma once

#include <string>
#include <vector>

#include "report/study.hpp"

namespace fewbit::solver {

/// Names for the results of one report, index by index: as short as they can be while different
/// things have different names.
struct Labels {
  std::vector<std::string> function;  ///< "gelu"; "act: x*tanh(x)" where another is called act, too
  std::vector<std::string> weight;    ///< "normal(0, 1)", "histogram of 1024 bins, a.json"
  std::vector<std::string> variant;   ///< what sets tables of one function and size apart
};

Labels labels_of(const std::vector<Result>& results);

}  // namespace fewbit::solver
