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
///
/// The bound. Let every sample x stand for a number u of its bin that is drawn evenly: u follows
/// the histogram. With D^2 the mean of (f'(x) - f'(u))^2, a table of root mean square error e on
/// the samples gives, level by level, one of e + D at most on the histogram, and so e >=
/// sqrt(lower_bound of the table) - D. Form::levels gives each u the level that x had. For
/// Form::intervals the pairs must keep their order within a bin, so D is bounded by the swing of f'
/// over the bins. For Form::unbiased moving a value by s changes its error by s times the range of
/// f' at most.
SampleError error_on_samples(const Table& table, const Samples& samples);

}  // namespace fewbit::solver
