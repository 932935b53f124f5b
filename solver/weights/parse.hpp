#pragma once

#include <string>
#include <string_view>

#include "table/table.hpp"

namespace fewbit::solver {

/// Reads the `--weight` argument:
///   uniform | normal[:mean,sigma] | mixture[:sigma_min,sigma_max] | laplace[:mean,scale] |
///   student-t[:mean,scale,degrees] | histogram:FILE | samples:FILE
/// "normal" and "laplace" alone are 0,1, "mixture" 0.0625,4 and "student-t" 0,1,3. Files are read
/// here; `samples` become a histogram. Throws UsageError where the text is wrong, Error where a
/// file is (see histogram_file.hpp, samples.hpp). What it returns, make_weight accepts.
WeightSpec parse_weight(std::string_view text);

/// The message for a kind that does not exist, with the nearest names.
std::string unknown_weight(std::string_view kind);

}  // namespace fewbit::solver
