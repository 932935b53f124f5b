#include "proven/on_samples.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "expression/derivative.hpp"
#include "functions/registry.hpp"
#include "search/setting.hpp"
#include "search/x_axis.hpp"

namespace fewbit::solver {

namespace {

/// f' under the even density of each bin of a histogram.
class BinValues {
 public:
  struct Bin {
    double mean;
    double variance;
    double swing;
  };

  BinValues(const Setting& setting, const WeightSpec& weight) : edges_(weight.edges) {
    const PrefixIntegral& integral = setting.integral();
    const XAxis axis(integral);
    // What differences of running sums are known to.
    const double range = setting.range();
    const double rounding = 1e-15 * integral.total().mass;
    for (size_t i = 0; i + 1 < edges_.size(); ++i) {
      const Moments sums = integral.at(edges_[i + 1]) - integral.at(edges_[i]);
      const double swing = axis.swing(edges_[i], edges_[i + 1]);
      Bin bin{axis.value(edges_[i]) + integral.center(), swing * swing, swing};
      if (sums.mass > rounding) {
        const double mean = sums.first / sums.mass;
        const double slack = range * range * rounding / sums.mass;
        bin.mean = mean + integral.center();
        bin.variance =
            std::min(swing * swing / 4.0, std::max(0.0, sums.second / sums.mass - mean * mean)) +
            slack;
      }
      bins_.push_back(bin);
    }
  }

  const Bin& at(double x) const {
    const auto after = std::lower_bound(edges_.begin() + 1, edges_.end() - 1, x);
    return bins_[static_cast<size_t>(after - edges_.begin()) - 1];
  }

 private:
  std::vector<double> edges_;
  std::vector<Bin> bins_;
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

double distance_to_bin(const BinValues::Bin& bin, Form form, double value) {
  if (form == Form::intervals) return bin.swing * bin.swing;
  if (form == Form::unbiased) return bin.swing;
  return (value - bin.mean) * (value - bin.mean) + bin.variance;
}

}  // namespace

SampleError error_on_samples(const Table& table, const Samples& samples) {
  const Problem& problem = table.problem;
  const Setting setting(problem.function, problem.weight, problem.domain, false);
  const Derivative& derivative = setting.derivative();
  const BinValues bins(setting, problem.weight);
  long double error = 0.0L;
  long double apart = 0.0L;
  size_t count = 0;
  samples.for_each_block([&](std::span<const double> block) {
    for (const double x : block) {
      const double value = derivative.value(x);
      error += squared_distance(table, x, value);
      apart += distance_to_bin(bins.at(x), problem.form, value);
    }
    count += block.size();
  });
  const auto mean = [count](long double sum) {
    return static_cast<double>(sum / static_cast<long double>(count));
  };
  SampleError result{mean(error), 0.0};
  if (problem.form == Form::unbiased) {
    result.lower_bound = table.lower_bound - mean(apart) * setting.range();
  } else {
    const double root = std::sqrt(table.lower_bound) - std::sqrt(mean(apart));
    result.lower_bound = root > 0.0 ? root * root : 0.0;
  }
  result.lower_bound = std::clamp(result.lower_bound * (1.0 - 1e-12), 0.0, result.error);
  return result;
}

}  // namespace fewbit::solver
