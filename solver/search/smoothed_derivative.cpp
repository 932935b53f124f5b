#include "search/smoothed_convolution.hpp"
#include "search/smoothing_model.hpp"

namespace fewbit::solver {
namespace {

Derivative derivative_over(const Expression& f, const Domain& span) {
  return Derivative(f, span.lo, span.hi);
}

}  // namespace

SmoothedDerivative::SmoothedDerivative(const Expression& f, std::vector<SmoothingNode> nodes)
    : nodes_(std::move(nodes)),
      derivative_(derivative_over(f, smoothing_reach(nodes_))),
      values_(convolve(derivative_, convolution_stretches(derivative_, nodes_), nodes_)) {}

}  // namespace fewbit::solver
