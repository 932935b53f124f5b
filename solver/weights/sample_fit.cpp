#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "weights/densities.hpp"
#include "weights/histogram.hpp"
#include "weights/moments.hpp"
#include "weights/sample_bins.hpp"
#include "weights/sample_cells.hpp"
#include "weights/samples.hpp"
#include "weights/value_counts.hpp"

namespace fewbit::solver {

namespace {

constexpr double kLeastUnitSpread = 1e-6;
/// From here on the farthest thousandth is worth a word; a Laplace has 0.045.
constexpr double kTooMuchForFew = 0.5;

using Cells = std::vector<SampleCell>;

/// Goes over the samples until the cells are as fine as they have to be.
SampleCells sort_samples(const Samples& samples, double clip, ValueCounts& values) {
  SampleCells cells(clip);
  for (size_t total = 0;; total = cells.total()) {
    samples.for_each_block([&](std::span<const double> block) {
      cells.add(block);
      if (total == 0) values.add(block);
    });
    const bool again = cells.needs_another_pass();
    if (total != 0 && cells.total() != total)
      throw Error("was changed while it was read", samples.name());
    if (!again) return cells;
  }
}

Cells clipped(const Cells& cells, const Domain& ends) {
  Cells result;
  for (const SampleCell& cell : cells) {
    const SampleCell inside = {std::clamp(cell.least, ends.lo, ends.hi),
                               std::clamp(cell.greatest, ends.lo, ends.hi), cell.count};
    if (!result.empty() && mark_of(result.back().greatest) >= mark_of(inside.least)) {
      result.back().count += inside.count;
      result.back().greatest = inside.greatest;
    } else {
      result.push_back(inside);
    }
  }
  return result;
}

void check_spread(const Domain& ends, const std::string& name) {
  const auto [least, greatest] = ends;
  const double rounding =
      std::max(std::fabs(least), std::fabs(greatest)) * std::numeric_limits<double>::epsilon();
  // Hardly more marks between the ends than the core has bins: f' has but one value there.
  const double needed = static_cast<double>(kSampleBins * kMarkStep) / 8.0;
  if (greatest - least > needed * std::max(rounding, 1.0 / kLargestInput)) return;
  throw Error(
      "has no spread: all samples lie from " + shortest(least) + " to " + shortest(greatest), name);
}

/// Rows of all files, where all are two-dimensional with the same columns; else none.
SampleShape whole_shape(const Samples& samples) {
  SampleShape whole = samples.shape(0);
  for (size_t file = 1; file < samples.files(); ++file) {
    const SampleShape shape = samples.shape(file);
    if (shape.columns != whole.columns) return {};
    whole.rows += shape.rows;
  }
  return whole;
}

/// Another pass, of arrays that tell units apart.
void add_units(const Samples& samples, double width, FittedSamples& result) {
  const SampleShape whole = whole_shape(samples);
  result.summary.looks_transposed =
      whole.columns > UnitMoments::kMostColumns && whole.rows > 1 && whole.rows < whole.columns / 4;
  UnitMoments moments(whole);
  if (whole.columns == 0 || whole.columns > UnitMoments::kMostColumns || whole.rows < 2) return;
  for (size_t file = 0; file < samples.files(); ++file) {
    moments.begin(samples.shape(file));
    samples.for_each_block(file, [&](std::span<const double> block) { moments.add(block); });
  }
  result.weight.units = moments.units(kLeastUnitSpread * width);
  result.summary.looks_transposed = moments.looks_transposed();
}

double middle_of(const SampleCell& cell) {
  return cell.least + 0.5 * (cell.greatest - cell.least);
}

/// The part of the sum of squares about the median that the farthest few carry.
double share_of_few(const Cells& cells, double median, size_t count_of_few) {
  std::vector<std::pair<double, double>> squares;  // with their counts
  double sum = 0.0;
  for (const SampleCell& cell : cells) {
    const double distance = middle_of(cell) - median;
    const auto count = static_cast<double>(cell.count);
    squares.emplace_back(distance * distance, count);
    sum += distance * distance * count;
  }
  std::sort(squares.begin(), squares.end(), std::greater<>());
  auto few = static_cast<double>(count_of_few);
  double carried = 0.0;
  for (const auto& [square, count] : squares) {
    const double taken = std::min(few, count);
    carried += square * taken;
    few -= taken;
  }
  return sum > 0.0 ? std::min(1.0, carried / sum) : 0.0;
}

SampleSummary summary_of(const Cells& cells, size_t total) {
  SampleSummary summary;
  summary.count = total;
  summary.least = cells.front().least;
  summary.greatest = cells.back().greatest;
  size_t before = 0;
  for (const SampleCell& cell : cells) {
    if (2 * before >= total) break;
    before += cell.count;
    summary.median = middle_of(cell);
  }
  summary.few = std::max<size_t>(1, total / 1000);
  summary.share_of_few = share_of_few(cells, summary.median, summary.few);
  return summary;
}

/// None where there are no shares.
std::optional<WeightSpec> weight_of_values(const std::vector<ValueMass>& shares,
                                           const std::vector<UnitSpec>& units) {
  if (shares.empty()) return std::nullopt;
  WeightSpec weight;
  weight.kind = "samples";
  for (const auto& [value, share] : shares) {
    weight.values.push_back(value);
    weight.masses.push_back(share);
  }
  weight.units = units;
  return weight;
}

}  // namespace

FittedSamples fit_samples(Samples& samples, double clip) {
  ValueCounts values;
  const SampleCells sorted = sort_samples(samples, clip, values);
  const size_t total = sorted.total();
  const Domain ends = sorted.clipped_ends();
  if (clip < 1.0) samples.clip(ends);
  const Cells cells = clipped(sorted.cells(), ends);
  check_spread(ends, samples.name());

  FittedSamples result;
  result.summary = summary_of(cells, total);
  const SampleBins bins = bins_of(cells, total);
  WeightSpec& weight = result.weight;
  weight.kind = "histogram";
  weight.edges = bins.edges;
  weight.masses.assign(bins.counts.begin(), bins.counts.end());
  add_units(samples, bulk_of(cells).width, result);
  check_histogram(weight.edges, weight.masses, samples.name());
  tidy_histogram(weight.edges, weight.masses);
  result.values = weight_of_values(values.shares(ends), weight.units);
  return result;
}

std::vector<std::string> sample_warnings(const SampleSummary& summary) {
  // Of fewer than 20 samples one is no few.
  if (summary.count < 20) return {};
  std::vector<std::string> lines;
  if (summary.share_of_few > kTooMuchForFew) {
    const char* clip = "0.999";
    if (summary.count < 1000) clip = summary.count < 100 ? "0.95" : "0.99";
    lines.push_back(
        fmt::format("{} of {} samples carry {:.0f} % of the sum of squares about the "
                    "median (samples reach from {} to {}): --clip {} limits them",
                    summary.few, summary.count, std::floor(100 * summary.share_of_few),
                    shortest(summary.least), shortest(summary.greatest), clip));
  }
  if (summary.looks_transposed) {
    lines.emplace_back(
        "the array has many more columns than rows and its rows differ, as units "
        "do: rows are taken for samples, columns for units; is it transposed?");
  }
  return lines;
}

}  // namespace fewbit::solver
