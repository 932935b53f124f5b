#pragma once

#include "table/table.hpp"
#include "weights/samples.hpp"

namespace fewbit::solver {

/// What a table that was fitted to the histogram of samples does on the samples themselves.
struct SampleError {
  double error;  ///< mean over the samples of (f' - q)^2, of its expectation for Form::unbiased
  double lower_bound;  ///< no table of this form and size has a smaller mean; 0: not known
};

/// `table` is for the histogram that fit_samples() made of `samples`, on all of its domain.
/// For the bound see sample_bound.hpp: it takes f' in each bin for what it is on the samples and
/// under the histogram's even density there.
SampleError error_on_samples(const Table& table, const Samples& samples);

}  // namespace fewbit::solver
