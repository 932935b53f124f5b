#pragma once

#include <string>

#include "report/curve.hpp"

namespace fewbit::solver {

/// f' (thin) and the step function (bold) in 15 rows of braille characters with axis labels, in
/// lines of at most `width` columns (at least 40); `colour` adds terminal colours. Lines end in a
/// newline.
std::string terminal_plot(const Curve& curve, bool colour, int width = 80);

}  // namespace fewbit::solver
