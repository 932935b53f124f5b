// Values of the weight are items of a line: by x (or |x|) for `intervals`, by f' for the other
// forms. A table is a sequence of runs of items, so the dynamic program over items is exact
// (Few-Bit Backward, equations 7 to 9, with sums in the place of integrals).
//   levels    in an optimum each value takes the nearest level: runs of values of f' in order.
//   unbiased  the expected error is convex and linear in a level between two neighbouring values,
//   so
//             some optimum has all levels at values; the outermost two are the least and the
//             greatest one.

#include "search/discrete.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "search/assemble.hpp"
#include "search/discrete_cuts.hpp"
#include "search/discrete_setting.hpp"
#include "search/run_costs.hpp"
#include "search/snap.hpp"

namespace fewbit::solver {

namespace {

/// Rounding levels to decimals may cost this factor of the error and no more.
constexpr double kSnapTolerance = 1.0 + 1e-13;

/// Items in order, and the item of each point.
struct Line {
  std::vector<double> keys;
  std::vector<Cluster> clusters;
  std::vector<size_t> item_of;  ///< by point
};

/// The mean of equal values is that value, to the last bit.
void add(const DiscretePoint& point, Cluster& cluster) {
  if (cluster.mass == 0.0) cluster.mean = point.value;
  const double both = cluster.mass + point.mass;
  const double apart = point.value - cluster.mean;
  cluster.squares += apart * apart * cluster.mass * point.mass / both;
  cluster.mean += apart * point.mass / both;
  cluster.mass = both;
}

using KeyOf = std::function<double(const DiscretePoint&)>;

/// Points of equal keys are one item.
Line line_of(const std::vector<DiscretePoint>& points, const KeyOf& key_of) {
  Line line;
  for (const DiscretePoint& point : points) line.keys.push_back(key_of(point));
  std::sort(line.keys.begin(), line.keys.end());
  line.keys.erase(std::unique(line.keys.begin(), line.keys.end()), line.keys.end());
  line.clusters.assign(line.keys.size(), {0.0, 0.0, 0.0});
  for (const DiscretePoint& point : points) {
    const auto at = std::lower_bound(line.keys.begin(), line.keys.end(), key_of(point));
    line.item_of.push_back(static_cast<size_t>(at - line.keys.begin()));
    add(point, line.clusters[line.item_of.back()]);
  }
  return line;
}

double mean_of(const std::vector<Cluster>& clusters, size_t begin, size_t end) {
  long double mass = 0.0L;
  long double mean = clusters[begin].mean;
  for (size_t i = begin; i < end; ++i) {
    mass += clusters[i].mass;
    mean += (clusters[i].mean - mean) * clusters[i].mass / mass;
  }
  return static_cast<double>(mean);
}

struct Partition {
  std::vector<double> levels;  ///< of the runs
  std::vector<int> run_of;     ///< by item
  double cost;
};

Partition partition_of(const Line& line, int most) {
  const size_t count = std::min(line.clusters.size(), static_cast<size_t>(most));
  const Runs runs = cheapest_runs(RunCosts::of_variance(line.clusters), count);
  Partition partition{{}, {}, runs.cost};
  size_t begin = 0;
  for (const size_t end : runs.ends) {
    partition.run_of.insert(partition.run_of.end(), end - begin,
                            static_cast<int>(partition.levels.size()));
    partition.levels.push_back(mean_of(line.clusters, begin, end));
    begin = end;
  }
  return partition;
}

double squared_error(const std::vector<DiscretePoint>& points, const Table& table) {
  long double sum = 0.0L;
  for (const DiscretePoint& point : points) {
    const auto code = static_cast<size_t>(table.codes[table.interval_of(point.x)]);
    const long double off = static_cast<long double>(point.value) - table.levels[code];
    sum += point.mass * off * off;
  }
  return static_cast<double>(sum);
}

double coding_error(const std::vector<DiscretePoint>& points, const std::vector<double>& levels) {
  long double sum = 0.0L;
  for (const DiscretePoint& point : points) {
    const double v = std::clamp(point.value, levels.front(), levels.back());
    const auto above = std::upper_bound(levels.begin() + 1, levels.end() - 1, v);
    sum += static_cast<long double>(point.mass) * (static_cast<long double>(v) - *(above - 1)) *
           (static_cast<long double>(*above) - v);
  }
  return static_cast<double>(sum);
}

double error_of(const DiscreteSetting& setting, const Table& table) {
  return table.problem.form == Form::unbiased ? coding_error(setting.points(), table.levels)
                                              : squared_error(setting.points(), table);
}

/// Thresholds between items with different codes, on |x| where `folded`.
void lay_out(const DiscreteSetting& setting, bool folded, const std::vector<double>& keys,
             const std::vector<int>& codes, const std::vector<double>& levels, Table& table) {
  StepLayout layout{{}, {codes.front()}, levels};
  for (size_t i = 1; i < keys.size(); ++i) {
    if (codes[i] == codes[i - 1]) continue;
    const Neighbours values{keys[i - 1], keys[i], levels[static_cast<size_t>(codes[i - 1])],
                            levels[static_cast<size_t>(codes[i])]};
    layout.thresholds.push_back(
        cut_between(setting.derivative(folded), values, table.problem.dtype, folded));
    layout.codes.push_back(codes[i]);
  }
  layout = normalised(layout);
  table.symmetry = folded ? Symmetry::even : Symmetry::none;
  table.thresholds = std::move(layout.thresholds);
  table.codes = std::move(layout.codes);
  table.levels = std::move(layout.levels);
}

void round_levels(const DiscreteSetting& setting, Table& table) {
  const auto snapped = snap_to_decimals({{}, {}, table.levels}, false, false);
  if (!snapped) return;
  Table rounded = table;
  rounded.levels = snapped->levels;
  if (error_of(setting, rounded) > error_of(setting, table) * kSnapTolerance) return;
  table.levels = rounded.levels;
}

/// The codes of all |x|, where x and -x have the same ones.
std::optional<std::vector<int>> folded_codes(const Line& line, const std::vector<int>& codes) {
  std::vector<int> folded(line.keys.size(), -1);
  for (size_t i = 0; i < codes.size(); ++i) {
    int& code = folded[line.item_of[i]];
    if (code >= 0 && code != codes[i]) return std::nullopt;
    code = codes[i];
  }
  return folded;
}

double place_of(const DiscretePoint& point) {
  return point.x;
}
double magnitude_of(const DiscretePoint& point) {
  return std::fabs(point.x);
}
double value_of(const DiscretePoint& point) {
  return point.value;
}

double solve_levels(const DiscreteSetting& setting, Table& table) {
  const Line by_value = line_of(setting.points(), value_of);
  const Partition partition = partition_of(by_value, table.problem.levels);
  std::vector<int> codes;
  for (const size_t item : by_value.item_of) codes.push_back(partition.run_of[item]);
  if (setting.can_fold()) {
    const Line magnitudes = line_of(setting.points(), magnitude_of);
    if (const auto folded = folded_codes(magnitudes, codes)) {
      lay_out(setting, true, magnitudes.keys, *folded, partition.levels, table);
      return partition.cost;
    }
  }
  lay_out(setting, false, line_of(setting.points(), place_of).keys, codes, partition.levels, table);
  return partition.cost;
}

/// Thresholds on x compete with those on |x|.
double solve_intervals(const DiscreteSetting& setting, Table& table) {
  const Line plain = line_of(setting.points(), place_of);
  const Partition any = partition_of(plain, table.problem.levels);
  if (setting.can_fold()) {
    const Line magnitudes = line_of(setting.points(), magnitude_of);
    const Partition even = partition_of(magnitudes, table.problem.levels);
    if (even.cost <= any.cost) {
      lay_out(setting, true, magnitudes.keys, even.run_of, even.levels, table);
      return even.cost;
    }
  }
  lay_out(setting, false, plain.keys, any.run_of, any.levels, table);
  return any.cost;
}

double solve_unbiased(const DiscreteSetting& setting, Table& table) {
  const Line line = line_of(setting.points(), value_of);
  table.levels = {line.keys.front()};
  if (line.keys.size() == 1) {
    // Two levels there have to be; the second one is never taken.
    table.levels.push_back(line.keys.front() + std::max(1.0, std::fabs(line.keys.front())));
    return 0.0;
  }
  const size_t gaps = line.keys.size() - 1;
  const size_t count = std::min(gaps, static_cast<size_t>(table.problem.levels) - 1);
  const Runs runs = cheapest_runs(RunCosts::of_rounding(line.clusters), count);
  for (const size_t end : runs.ends) table.levels.push_back(line.keys[end]);
  return runs.cost;
}

}  // namespace

void solve_discrete(Table& table) {
  const DiscreteSetting setting(table.problem);
  double least = 0.0;
  switch (table.problem.form) {
    case Form::levels:
      least = solve_levels(setting, table);
      break;
    case Form::intervals:
      least = solve_intervals(setting, table);
      break;
    case Form::unbiased:
      least = solve_unbiased(setting, table);
      break;
  }
  if (table.problem.form != Form::unbiased) round_levels(setting, table);
  table.error = setting.above(error_of(setting, table));
  table.lower_bound = setting.below(least);
  table.residual = discrete_residual(table);
}

double discrete_error(const Table& table) {
  const DiscreteSetting setting(table.problem);
  return setting.above(error_of(setting, table));
}

double discrete_residual(const Table& table) {
  const DiscreteSetting setting(table.problem);
  if (table.problem.form == Form::unbiased || !(setting.range() > 0.0)) return 0.0;
  std::vector<Cluster> sets(table.levels.size(), {0.0, 0.0, 0.0});
  double largest = 0.0;
  for (const DiscretePoint& point : setting.points()) {
    const auto code = static_cast<size_t>(table.codes[table.interval_of(point.x)]);
    add(point, sets[code]);
    if (table.problem.form != Form::levels) continue;
    const double own = std::fabs(point.value - table.levels[code]);
    for (const double level : table.levels) {
      largest = std::max(largest, own - std::fabs(point.value - level));
    }
  }
  for (size_t j = 0; j < sets.size(); ++j) {
    if (sets[j].mass > 0.0) largest = std::max(largest, std::fabs(sets[j].mean - table.levels[j]));
  }
  return largest / setting.range();
}

}  // namespace fewbit::solver
