#pragma once

#include <vector>

#include "weights/sample_cells.hpp"

namespace fewbit::solver {
inline namespace sampling {

struct SampleBins {
  std::vector<double> edges;
  std::vector<size_t> counts;  ///< of samples in (edges[i], edges[i + 1]], the first edge included
};

/// Puts cells, as SampleCells leaves them, together to bins (see Fineness), at most kMostSampleBins
/// of them: where there would be more, all become coarser. A bin hugs its samples where a good part
/// of it would be empty, and a number that is alone in its bin has one that ends there and begins
/// at the double before (for the least number of all: that begins there).
SampleBins bins_of(const std::vector<SampleCell>& cells, size_t total);

}  // namespace sampling
}  // namespace fewbit::solver
