#pragma once

#include <vector>

#include "weights/sample_cells.hpp"

namespace fewbit::solver {

struct SampleBins {
  std::vector<double> edges;
  std::vector<size_t> counts;  ///< of samples in (edges[i], edges[i + 1]], the first edge included
};

/// Puts cells, as SampleCells leaves them, together to bins (see Fineness), at most kMostSampleBins
/// of them: where there would be more, all become coarser. A bin hugs its samples where a good part
/// of it would be empty; a number that is alone has the doubles around its mark. The first bin
/// begins at the least and the last one ends at the greatest sample, or at their marks where these
/// are farther out.
SampleBins bins_of(const std::vector<SampleCell>& cells, size_t total);

}  // namespace fewbit::solver
