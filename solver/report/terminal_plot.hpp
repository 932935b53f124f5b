#pragma once

#include <string>

#include "report/curve.hpp"

namespace fewbit::solver {
inline namespace reporting {

/// f' (thin) and the step function (bold) in 60 x 15 braille characters with axis labels; `colour`
/// adds terminal colours. Lines end in a newline.
std::string terminal_plot(const Curve& curve, bool colour);

}  // namespace reporting
}  // namespace fewbit::solver
