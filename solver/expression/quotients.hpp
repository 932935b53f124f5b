#pragma once

#include <vector>

#include "expression/pieces.hpp"

namespace fewbit::solver {

/// Cuts pieces of f around points where a quotient is 0/0, as expm1(x)/x is at 0, also such that
/// lie beside the piece: there it becomes a quotient of Taylor polynomials, which rounds as well as
/// any smooth function. Throws Error where f itself is not finite at such a point, and where a
/// single value that f has there is not the limit.
std::vector<Piece> mend_quotients(const Expression& f, const std::vector<Piece>& pieces);

}  // namespace fewbit::solver
