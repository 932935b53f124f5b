#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "table/table.hpp"

namespace fewbit::solver {

/// Spread of f' over numbers that share a bin.
struct Spread {
  double mean = 0.0;
  double variance = 0.0;
};

/// A bin of the histogram of some samples, with at least one in it.
struct SampleBin {
  double lo = 0.0;
  double hi = 0.0;
  double share = 0.0;  ///< of the samples, and of the histogram's mass
  double swing = 0.0;  ///< f' swings by no more than this between the ends
  Spread even;         ///< under the even density that the histogram has there
  Spread samples;      ///< of the samples themselves
};

/// What is known of all tables for a histogram, with f' by the same origin as in the bins.
struct HistogramBound {
  double lower_bound = 0.0;  ///< of their errors, where f' and q are exact
  double least = 0.0;        ///< f' is at least this
  double range = 0.0;        ///< and at most that much more
};

/// What a table of any levels has on the samples at least. Let m and u be the means of f' in a bin
/// over the samples and under the even density, p its share, R the range.
///
/// Form::levels. The squared distance of v from the nearest level is v^2 - h(v), with h the largest
/// of all 2 y v - y^2: convex, piecewise linear, with slopes from twice the least to twice the
/// greatest f'. The means of v^2 are known. By Jensen's inequality the histogram's mean of h is the
/// sum of p h(u) or more. The samples' one is the sum of p h(m) and of what corners of h inside of
/// bins add: half a standard deviation each, times the turn of the slope; all turns together
/// are 2 R at most. At last h(m) - h(u) <= h'(m) (m - u), and the slope ascends with m: the sum of
/// p (m - u) h'(m) is greatest where h' jumps once from its least to its greatest value.
///
/// Form::unbiased. The variance of rounding is H(v) - v^2, with H convex and piecewise linear
/// likewise: the same with samples and histogram in exchanged places.
double bound_by_values(const std::vector<SampleBin>& bins, Form form, const HistogramBound& known);

/// Form::intervals with so many `cuts` of x. In a bin without a cut q is one number y, and the mean
/// of (f' - y)^2 is the variance there plus (m - y)^2 or (u - y)^2; in the others every sample
/// stands for numbers of its bin in the same order, at most a swing away. So what variances leave
/// of both errors differs by D at most in the root, D^2 the sum of p (m - u)^2 and, for as many
/// bins as there are cuts, of p swing^2.
double bound_in_order(const std::vector<SampleBin>& bins, size_t cuts, const HistogramBound& known);

/// Form::intervals with cuts of |x|. Bins of negative and of positive x end at other places, so
/// samples and histogram are paired along |x| in order. At any of their ranks both lie where the
/// masses of the bins that begin and of those that end up to there leave room; `swing_of` is what
/// f' swings by between two such places.
double bound_in_folded_order(const std::vector<SampleBin>& bins, const HistogramBound& known,
                             const std::function<double(double, double)>& swing_of);

}  // namespace fewbit::solver
