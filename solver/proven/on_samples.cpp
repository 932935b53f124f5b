#include "proven/on_samples.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "expression/derivative.hpp"
#include "functions/registry.hpp"
#include "proven/sample_bound.hpp"
#include "search/setting.hpp"
#include "search/x_axis.hpp"

namespace fewbit::solver {

namespace {

/// Of running sums beside their total.
constexpr double kRounding = 1e-15;

/// What is summed up of the samples in one bin, by an origin of its own.
struct Sums {
  size_t count = 0;
  long double first = 0.0L;
  long double second = 0.0L;
};

/// f' in each bin of a histogram, by integral.center().
class Bins {
 public:
  Bins(const Setting& setting, const WeightSpec& weight)
      : integral_(setting.integral()),
        axis_(integral_),
        edges_(weight.edges),
        sums_(edges_.size() - 1) {
    for (size_t i = 0; i + 1 < edges_.size(); ++i) bins_.push_back(even_bin(i));
  }

  void add(double x, double value) {
    const auto after = std::lower_bound(edges_.begin() + 1, edges_.end() - 1, x);
    const size_t i = static_cast<size_t>(after - edges_.begin()) - 1;
    const long double off =
        static_cast<long double>(value) - integral_.center() - bins_[i].even.mean;
    ++sums_[i].count;
    sums_[i].first += off;
    sums_[i].second += off * off;
  }

  /// Those with samples, of which there are `count` in all.
  std::vector<SampleBin> filled(size_t count) const {
    std::vector<SampleBin> result;
    for (size_t i = 0; i < bins_.size(); ++i) {
      if (sums_[i].count == 0) continue;
      SampleBin bin = bins_[i];
      const auto in_bin = static_cast<long double>(sums_[i].count);
      const long double off = sums_[i].first / in_bin;
      bin.share = static_cast<double>(in_bin / static_cast<long double>(count));
      bin.samples.mean = static_cast<double>(bin.even.mean + off);
      bin.samples.variance =
          static_cast<double>(std::max(0.0L, sums_[i].second / in_bin - off * off));
      result.push_back(bin);
    }
    return result;
  }

  /// What f' swings by between two |x|, where it is even.
  double folded_swing(double near, double far) const {
    return far <= edges_.back() ? axis_.swing(near, far) : axis_.swing(-far, -near);
  }

 private:
  SampleBin even_bin(size_t i) const {
    SampleBin bin{edges_[i], edges_[i + 1], 0.0, axis_.swing(edges_[i], edges_[i + 1]), {}, {}};
    const Moments sums = integral_.at(bin.hi) - integral_.at(bin.lo);
    bin.even.mean = axis_.value(bin.lo);
    // Less is not known of differences of running sums.
    if (sums.mass <= kRounding * integral_.total().mass) return bin;
    bin.even.mean = sums.first / sums.mass;
    const double variance = sums.second / sums.mass - bin.even.mean * bin.even.mean;
    bin.even.variance = std::clamp(variance, 0.0, bin.swing * bin.swing / 4.0);
    return bin;
  }

  const PrefixIntegral& integral_;
  XAxis axis_;
  std::vector<double> edges_;
  std::vector<SampleBin> bins_;
  std::vector<Sums> sums_;
};

double squared_distance(const Table& table, double x, double value) {
  const std::vector<double>& levels = table.levels;
  if (table.problem.form != Form::unbiased) {
    const double off = value - levels[static_cast<size_t>(table.codes[table.interval_of(x)])];
    return off * off;
  }
  const double inside = std::clamp(value, levels.front(), levels.back());
  const auto above = std::upper_bound(levels.begin() + 1, levels.end() - 1, inside);
  return (inside - *(above - 1)) * (*above - inside);
}

double bound_on_samples(const Table& table, const Setting& setting, const Bins& bins,
                        size_t count) {
  const Problem& problem = table.problem;
  const PrefixIntegral& integral = setting.integral();
  const std::vector<SampleBin> filled = bins.filled(count);
  // The histogram's bound holds for f' itself, what is summed up here is rounded.
  const double range = setting.range();
  const HistogramBound known{table.lower_bound,
                             setting.derivative().min_value() - integral.center(), range};
  Uncertainty uncertainty = integral.uncertainty();
  uncertainty.quadrature *= 4.0;
  uncertainty.quadrature += kRounding * static_cast<double>(filled.size()) * range * range;
  uncertainty.noise *= 2.0;
  if (problem.form != Form::intervals) {
    return uncertainty.below(bound_by_values(filled, problem.form, known));
  }
  double bound = bound_in_order(filled, static_cast<size_t>(problem.levels) - 1, known);
  if (Setting::can_fold(problem.function, problem.weight, problem.domain)) {
    const auto swing = [&](double near, double far) { return bins.folded_swing(near, far); };
    bound = std::min(bound, bound_in_folded_order(filled, known, swing));
  }
  return uncertainty.below(bound);
}

}  // namespace

SampleError error_on_samples(const Table& table, const Samples& samples) {
  const Problem& problem = table.problem;
  const Setting setting(problem.function, problem.weight, problem.domain, false);
  const Derivative& derivative = setting.derivative();
  Bins bins(setting, problem.weight);
  long double error = 0.0L;
  size_t count = 0;
  samples.for_each_block([&](std::span<const double> block) {
    for (const double x : block) {
      const double value = derivative.value(x);
      error += squared_distance(table, x, value);
      bins.add(x, value);
    }
    count += block.size();
  });
  const auto mean = static_cast<double>(error / static_cast<long double>(count));
  return {mean, std::min(bound_on_samples(table, setting, bins, count), mean)};
}

}  // namespace fewbit::solver
