#pragma once

#include <vector>

#include "search/smoothing_model.hpp"

namespace fewbit::solver {

/// Mean and standard deviation of the inputs that the nodes stand for: the units of length of the
/// smoothed search.
struct InputSpread {
  double mean = 0.0;
  double deviation = 0.0;
};
InputSpread input_spread(const std::vector<SmoothingNode>& nodes);

/// At least one threshold, all finite and ascending, codes that name levels, one more than
/// thresholds.
bool is_sound(const StepFunction& step);

/// `start` itself, then stretched about the mean of the inputs and shifted (an even one only
/// stretched about 0); one with very many thresholds only itself.
std::vector<StepFunction> start_variants(const StepFunction& start, bool even,
                                         const InputSpread& inputs);

/// Takes interval i away (remove_interval); from an even step function its mirror image too. False
/// when no step would be left.
bool take_away(StepFunction& step, size_t interval);

/// The next simpler code pattern: takes away the shortest interval whose level is named elsewhere
/// (an outer one counts as far as the inputs reach). False when there is none.
bool simplify(StepFunction& step, const InputSpread& inputs);

}  // namespace fewbit::solver
