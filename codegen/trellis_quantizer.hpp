#pragma once

#include <vector>

#include "codegen/generate.hpp"
#include "trellis/trellis.hpp"

namespace fewbit::codegen {

/// trellis_quantizer.hpp: their levels, by states and bits. Nothing where there are none. Throws
/// Error where the bits of 4 or of 8 states are not 1, 2, ... kMostTrellisBits.
Files trellis_quantizer_files(const std::vector<solver::TrellisQuantizer>& trellises);

}  // namespace fewbit::codegen
