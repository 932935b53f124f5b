#pragma once

#include <istream>
#include <string>

#include "table/table.hpp"

namespace fewbit::solver {

/// Reads a histogram as comma-separated text, one bin a line, in one of two layouts:
///   edge,count          the left edge of each bin; the last line holds the right end alone
///   left,right,count    bins that follow each other without gap
/// Counts are any numbers >= 0. A header line, lines that begin with '#', empty lines and white
/// space are skipped. Returns kind `histogram` without units: masses sum to 1, empty bins at the
/// ends are cut off, neighbouring empty bins joined. At most 65536 bins of up to 1 KiB a line.
/// Throws Error with `name` and, where there is one, the line.
WeightSpec read_histogram(std::istream& in, const std::string& name);

/// The same from a file.
WeightSpec read_histogram_file(const std::string& path);

}  // namespace fewbit::solver
