#include "weights/samples.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "weights/densities.hpp"
#include "weights/edge_index.hpp"
#include "weights/histogram.hpp"
#include "weights/moments.hpp"
#include "weights/open_file.hpp"
#include "weights/sample_reader.hpp"

namespace fewbit::solver {

namespace {

constexpr size_t kBlockSamples = size_t{1} << 13;
constexpr double kCoreSigmas = 8.0;
constexpr double kLeastUnitSpread = 1e-6;

/// Edges from `from` to `to` (either direction), first `width` apart, then ever twice as far; the
/// last bin ends at `to`. None where both are the same.
std::vector<double> doubling_edges(double from, double to, double width) {
  std::vector<double> edges;
  const double distance = std::fabs(to - from);
  for (double reach = width; reach + 0.5 * width < distance; reach = 2.0 * reach + width) {
    edges.push_back(to < from ? from - reach : from + reach);
  }
  if (to != from) edges.push_back(to);
  return edges;
}

std::vector<double> choose_edges(const Moments& moments, const std::string& name) {
  const double least = moments.least();
  const double greatest = moments.greatest();
  const double mean = std::clamp(moments.mean(), least, greatest);
  double low = std::max(least, mean - kCoreSigmas * moments.spread());
  double high = std::min(greatest, mean + kCoreSigmas * moments.spread());
  double width = (high - low) / static_cast<double>(kSampleBins);
  // No slivers: an end of the data less than a bin away belongs to the equal bins.
  if (low - least < width) low = least;
  if (greatest - high < width) high = greatest;
  width = (high - low) / static_cast<double>(kSampleBins);
  const double rounding =
      std::max(std::fabs(low), std::fabs(high)) * std::numeric_limits<double>::epsilon();
  if (!(width > 4.0 * rounding && width > 4.0 / kLargestInput)) {
    throw Error(
        "has no spread: all samples lie from " + shortest(least) + " to " + shortest(greatest),
        name);
  }
  std::vector<double> edges = doubling_edges(low, least, width);
  std::reverse(edges.begin(), edges.end());
  for (size_t i = 0; i < kSampleBins; ++i) edges.push_back(low + width * static_cast<double>(i));
  edges.push_back(high);
  const auto above = doubling_edges(high, greatest, width);
  edges.insert(edges.end(), above.begin(), above.end());
  return edges;
}

std::vector<double> count_samples(SampleReader& reader, const EdgeIndex& index,
                                  const Moments& moments, const std::string& name) {
  std::vector<size_t> counts(index.edges().size() - 1);
  std::vector<double> block(kBlockSamples);
  size_t total = 0;
  while (const size_t size = reader.read(block)) {
    for (size_t i = 0; i < size; ++i) {
      if (block[i] < moments.least() || block[i] > moments.greatest()) {
        throw Error("was changed while it was read", name);
      }
      ++counts[index.bin_of(block[i])];
    }
    total += size;
  }
  if (total != moments.count()) throw Error("was changed while it was read", name);
  std::vector<double> masses(counts.size());
  for (size_t i = 0; i < counts.size(); ++i) {
    masses[i] = static_cast<double>(counts[i]);
  }
  return masses;
}

}  // namespace

SampleFormat sample_format(const std::string& path) {
  if (path.ends_with(".npy")) return SampleFormat::npy;
  if (path.ends_with(".csv")) return SampleFormat::csv;
  if (path.ends_with(".f32") || path.ends_with(".raw")) return SampleFormat::raw;
  throw Error("samples are read from .npy, .csv, .f32 or .raw files", path);
}

void check_sample(double value, size_t index, const std::string& name) {
  if (std::fabs(value) <= kLargestInput) return;
  throw Error("sample " + std::to_string(index) + " (counted from 0) is " + shortest(value) +
                  ", accepted are numbers within +-1e+100",
              name);
}

std::unique_ptr<SampleReader> make_sample_reader(std::istream& in, SampleFormat format,
                                                 const std::string& name) {
  if (format == SampleFormat::csv) return make_csv_reader(in, name);
  return make_binary_reader(in, format, name);
}

WeightSpec read_samples(std::istream& in, SampleFormat format, const std::string& name) {
  const auto reader = make_sample_reader(in, format, name);
  Moments moments;
  UnitMoments unit_moments(reader->shape());
  std::vector<double> block(kBlockSamples);
  while (const size_t size = reader->read(block)) {
    const std::span<const double> filled(block.data(), size);
    moments.add(filled);
    unit_moments.add(filled);
  }

  const EdgeIndex index(choose_edges(moments, name));
  reader->rewind();
  WeightSpec spec;
  spec.kind = "histogram";
  spec.masses = count_samples(*reader, index, moments, name);
  spec.edges = index.edges();
  spec.units = unit_moments.units(kLeastUnitSpread * moments.spread());
  check_histogram(spec.edges, spec.masses, name);
  tidy_histogram(spec.edges, spec.masses);
  return spec;
}

WeightSpec read_samples_file(const std::string& path) {
  const SampleFormat format = sample_format(path);
  auto in = open_file(path);
  return read_samples(in, format, path);
}

}  // namespace fewbit::solver
