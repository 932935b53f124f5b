#pragma once

#include "expression/pieces.hpp"

namespace fewbit::solver {

/// Throws Error naming an x of the piece at which f, f' or f'' is not finite; `original` is what
/// the message shows. Samples, the zeros of denominators and the like, and where interval bounds
/// stay infinite down to neighbouring doubles, as long as `work` lasts (a unit for each node
/// evaluated).
void check_finite(const Expression& original, const Piece& piece, long& work);

}  // namespace fewbit::solver
