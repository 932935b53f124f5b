#pragma once

#include <functional>
#include <span>
#include <vector>

#include "search/smoothing_model.hpp"

namespace fewbit::solver {

/// What is convolved: a function of f'(x), smooth on every panel given.
using ValueMap = std::function<void(std::span<double> values)>;

/// (g(f') * N(0, spread^2))(mean) for every node, on stretches that cover the nodes' reach and on
/// each of which g(f') is resolved. Without `map` it is f' itself. Gauss-Legendre panels no wider
/// than 2.5 spreads: sixteen points are exact to rounding there. Neighbouring nodes of one spread
/// share the values. Cost: nodes times points within reach of each.
std::vector<double> convolve(const Derivative& derivative, const std::vector<Stretch>& stretches,
                             const std::vector<SmoothingNode>& nodes, const ValueMap& map = {});

/// The stretches for f' itself: resolved beside its size where the nodes are.
std::vector<Stretch> convolution_stretches(const Derivative& derivative,
                                           const std::vector<SmoothingNode>& nodes);

}  // namespace fewbit::solver
