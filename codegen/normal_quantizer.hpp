#pragma once

#include <vector>

#include "codegen/generate.hpp"
#include "table/table.hpp"

namespace fewbit::codegen {

/// normal_quantizer.hpp: the tables of the value quantiser for N(0, 1), 1 to 8 bits, as their upper
/// halves. Nothing where `tables` holds none of them. Throws Error where one is missing, is not of
/// that form and weight, or is not symmetric to 1e-6.
Files normal_quantizer_files(const std::vector<solver::Table>& tables);

}  // namespace fewbit::codegen
