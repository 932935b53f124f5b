#pragma once

#include <vector>

#include "bench/codecs/saved_runs.hpp"
#include "examples/support/page.hpp"

namespace fewbit::bench {

/// The errors of rotated codes on Gaussian runs beside what theory says.
examples::Sheet rotated_on_gaussians(int64_t groups);
examples::Sheet grouped_on_gaussians(int64_t groups);

/// One element of 30 deviations among 255 of a Gaussian: how much of the others comes back.
examples::Sheet slopes_beside_an_outlier(int64_t draws);

/// Where the error goes of groups whose energy is in a part of their elements.
examples::Sheet spread_of_errors(int64_t groups);

/// What activations make of N(0, 1): the error of rotated codes of what their codes do not tell,
/// beside that of rotated codes of all in as many bits.
examples::Sheet outputs_by_class(int64_t elements, int64_t draws);

/// Of maps whose blocks' means are kept apart: the error of rotated codes of what is left, beside
/// that of rotated codes of all in as many bits.
examples::Sheet low_frequencies_apart(const std::vector<SavedRun>& runs, int64_t draws);

struct SavedSheets {
  examples::Sheet errors, biases;
  examples::Sheet in_short;      ///< by bits; probabilities left out
  double worst_deviation = 0.0;  ///< largest standard error of an error, relative to it
};
/// Of many draws of every run, by codec and bits.
SavedSheets study_saved(const std::vector<SavedRun>& runs, int64_t draws);

}  // namespace fewbit::bench
