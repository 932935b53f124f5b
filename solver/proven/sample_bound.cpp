#include "proven/sample_bound.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace fewbit::solver {

namespace {

template <class Term>
double sum_of(const std::vector<SampleBin>& bins, const Term& term) {
  long double sum = 0.0L;
  for (const SampleBin& bin : bins) sum += static_cast<long double>(term(bin));
  return static_cast<double>(sum);
}

/// The sum over the `count` bins where it is largest.
template <class Term>
double largest_of(const std::vector<SampleBin>& bins, size_t count, const Term& term) {
  std::vector<double> terms;
  for (const SampleBin& bin : bins) terms.push_back(term(bin));
  std::sort(terms.begin(), terms.end(), std::greater<>());
  terms.resize(std::min(count, terms.size()));
  return std::accumulate(terms.begin(), terms.end(), 0.0);
}

double apart(const SampleBin& bin) {
  return bin.samples.mean - bin.even.mean;
}

double square(double value) {
  return value * value;
}

/// At most this is added to the mean of h by a corner of h that turns its slope by one, wherever it
/// is: what `spread` allows in all bins that may hold it.
double corner(const std::vector<SampleBin>& bins, Spread SampleBin::*spread) {
  std::vector<std::pair<double, double>> steps;
  for (const SampleBin& bin : bins) {
    const double cost = bin.share * 0.5 * std::min(std::sqrt((bin.*spread).variance), bin.swing);
    steps.emplace_back(bin.even.mean - bin.swing, cost);
    steps.emplace_back(bin.even.mean + bin.swing, -cost);
  }
  // Bins that touch share their place: the larger first.
  std::sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second > b.second;
  });
  double sum = 0.0;
  double largest = 0.0;
  for (const auto& [place, step] : steps) largest = std::max(largest, sum += step);
  return largest;
}

/// The greatest sum of p (m - u) s over slopes s from 2 least to 2 (least + range) that ascend with
/// the mean which `by` names.
double steepest(std::vector<SampleBin> bins, Spread SampleBin::*by, const HistogramBound& known) {
  std::sort(bins.begin(), bins.end(),
            [by](const SampleBin& a, const SampleBin& b) { return (a.*by).mean > (b.*by).mean; });
  double sum = 0.0;
  double largest = 0.0;
  for (const SampleBin& bin : bins) largest = std::max(largest, sum += bin.share * apart(bin));
  return 2.0 * (known.least * sum + known.range * largest);
}

/// (sqrt(a) - b)^2, nothing where b is larger.
double square_less(double a, double b) {
  const double root = std::sqrt(std::max(0.0, a)) - b;
  return root > 0.0 ? root * root : 0.0;
}

}  // namespace

double bound_by_values(const std::vector<SampleBin>& bins, Form form, const HistogramBound& known) {
  const double more = sum_of(bins, [](const SampleBin& bin) {
    return bin.share * (bin.samples.variance - bin.even.variance +
                        apart(bin) * (bin.samples.mean + bin.even.mean));
  });
  const double turns = 2.0 * known.range;
  if (form == Form::levels) {
    return known.lower_bound + more - turns * corner(bins, &SampleBin::samples) -
           steepest(bins, &SampleBin::samples, known);
  }
  std::vector<SampleBin> mirrored = bins;
  for (SampleBin& bin : mirrored) std::swap(bin.samples, bin.even);
  return known.lower_bound - more - turns * corner(bins, &SampleBin::even) -
         steepest(mirrored, &SampleBin::samples, known);
}

double bound_in_order(const std::vector<SampleBin>& bins, size_t cuts,
                      const HistogramBound& known) {
  const auto inside = [](const SampleBin& bin) { return bin.share * bin.samples.variance; };
  const double uncut = sum_of(bins, inside) - largest_of(bins, cuts, inside);
  const double even = sum_of(bins, [](const SampleBin& b) { return b.share * b.even.variance; });
  const double means = sum_of(bins, [](const SampleBin& b) { return b.share * square(apart(b)); });
  const double swings =
      largest_of(bins, cuts, [](const SampleBin& b) { return b.share * square(b.swing); });
  return uncut + square_less(known.lower_bound - even, std::sqrt(means + swings));
}

double bound_in_folded_order(const std::vector<SampleBin>& bins, const HistogramBound& known,
                             const std::function<double(double, double)>& swing_of) {
  using Mark = std::pair<double, double>;  // a place and the mass that begins or ends there
  std::vector<Mark> begins;
  std::vector<Mark> ends;
  for (const SampleBin& bin : bins) {
    const bool around_zero = bin.lo < 0.0 && bin.hi > 0.0;
    const auto [near, far] = std::minmax({std::abs(bin.lo), std::abs(bin.hi)});
    begins.emplace_back(around_zero ? 0.0 : near, bin.share);
    ends.emplace_back(far, bin.share);
  }
  std::sort(begins.begin(), begins.end());
  std::sort(ends.begin(), ends.end());
  double squares = 0.0;
  for (size_t i = 0, j = 0; i < begins.size() && j < ends.size();) {
    const double mass = std::min(begins[i].second, ends[j].second);
    squares += mass * square(swing_of(begins[i].first, ends[j].first));
    begins[i].second -= mass;
    ends[j].second -= mass;
    if (begins[i].second <= 0.0) ++i;
    if (ends[j].second <= 0.0) ++j;
  }
  return square_less(known.lower_bound, std::sqrt(squares));
}

}  // namespace fewbit::solver
