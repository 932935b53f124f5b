#pragma once

#include <vector>

#include "expression/derivative.hpp"
#include "search/panel_nodes.hpp"
#include "weights/weight.hpp"

namespace fewbit::solver {

/// A stretch within a piece of f' and between breaks of w.
struct Panel {
  double lo;
  double hi;
  size_t piece;
  double error;     ///< at least the rule's error for w (f' - y)^2, y any value of f', but for
  double relative;  ///< this share of the integral itself
  double coding;    ///< the same as error for w (f' - a)(b - f'), but for 9 / 4 of that share
  double noise;     ///< at least the rounding error of a computed f', estimated at three points
  bool constant;    ///< f' takes one value
};

/// Panels that cover the derivative's interval in order: halved where the bound of the rule's error
/// is largest, until it is at rounding level. Bounds, not samples, say how fine they have to be, so
/// no feature of f' or w is overlooked at any scale.
///
/// Where f' runs much farther than it does under w (1e7 x beyond ten sigma), no panel could be fine
/// enough for a y of the whole range. Let r bound |f' - f'(x)| on a panel of mass m, and A be the
/// largest |f' - y| there. Where A is above 4 r, |f' - y| is at least A / 2 everywhere on it: the
/// integral is A^2 m / 4 or more, and the rule's error, which grows like A^2, a share of it. Else
/// the error is at most the one for 4 r. Likewise for (f' - a)(b - f'): where f' keeps 2 r away
/// from a and b the error is a share, else one of the factors is at most 4 r and the other the
/// range.
std::vector<Panel> lay_panels(const Derivative& derivative, const Weight& weight);

}  // namespace fewbit::solver
