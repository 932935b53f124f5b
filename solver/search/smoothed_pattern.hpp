#pragma once

#include <cstddef>

#include "search/smoothing_model.hpp"

namespace fewbit::solver {

/// Takes interval i away: its neighbours meet in its middle, are joined where they share a code,
/// and a level that no interval names any more goes too. At least two intervals must be there.
void remove_interval(StepFunction& step, size_t interval);

/// The same for an even step function, which stays even: the mirror image goes too.
void remove_even_interval(StepFunction& step, size_t interval);

/// Levels ascend and differ, all are named, neighbouring intervals differ.
void make_canonical(StepFunction& step);

/// Thresholds in pairs -s, s, up to `tolerance`, and codes that read the same from both ends.
bool is_even(const StepFunction& step, double tolerance = 0.0);

/// Thresholds moved to the nearest exact pairs.
void make_even(StepFunction& step);

}  // namespace fewbit::solver
