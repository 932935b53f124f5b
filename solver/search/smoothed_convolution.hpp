#pragma once

#include <functional>
#include <span>
#include <vector>

#include "search/smoothed_panels.hpp"
#include "search/smoothing_model.hpp"

namespace fewbit::solver {

/// What is convolved: a function of f'(x), smooth on every panel given.
using ValueMap = std::function<void(std::span<double> values)>;

/// (g(f') * N(0, spread^2))(mean) for every node, on panels that cover the nodes' reach and on each
/// of which g(f') is resolved. Without `map` it is f' itself. Gauss-Legendre panels no wider than
/// four spreads: sixteen points are exact to rounding there. Neighbouring nodes of one spread share
/// the values. Cost: nodes times points within reach of each.
std::vector<double> convolve(const Derivative& derivative, const std::vector<Panel>& panels,
                             const std::vector<SmoothingNode>& nodes, const ValueMap& map = {});

/// The panels for f' itself.
std::vector<Panel> convolution_panels(const Derivative& derivative,
                                      const std::vector<SmoothingNode>& nodes);

}  // namespace fewbit::solver
