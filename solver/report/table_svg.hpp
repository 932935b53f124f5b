#pragma once

#include <string>

#include "table/table.hpp"

namespace fewbit::solver {

/// The picture of one table as a document of its own (760 x 460): title, error and proof, legend,
/// axes, the density of the inputs, f', the step function with its codes, thresholds.
std::string table_picture(const Table& table);

/// The same without title and legend (360 x 230), for a page that carries svg_style.
std::string table_thumbnail(const Table& table);

}  // namespace fewbit::solver
