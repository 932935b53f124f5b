#pragma once

#include <functional>
#include <string>

#include "bench/studies/kept_rows.hpp"

namespace fewbit::bench::steps_study {

/// steps.html, .md and .json.
struct StepPage {
  std::string conditions;  ///< the command, the processor, what a step is
  std::function<std::string(const std::string& stored)> group_of;  ///< on pictures
  Rows times = {}, plans = {};

  /// Takes the rows of a page that was measured in the same conditions; none of another.
  void read(const std::string& folder);
  void write(const std::string& folder) const;
  void print() const;
};

}  // namespace fewbit::bench::steps_study
