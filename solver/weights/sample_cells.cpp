#include "weights/sample_cells.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "weights/samples.hpp"

namespace fewbit::solver {

namespace {

constexpr int kUpperBits = 16;
constexpr int kLowerBits = 64 - kUpperBits;
constexpr size_t kParts = size_t{1} << kUpperBits;
/// Into how many parts a coarse cell is cut, from many to few cells.
constexpr size_t kFewestCuts = 16;
constexpr size_t kMostCuts = 256;
constexpr size_t kCutsInAll = size_t{1} << 16;
/// Cells are this much finer than bins, which are put together of several.
constexpr double kCellShare = 0.25;
constexpr double kRelativeWidth = 1.0 / 64.0;
constexpr double kEndRanks = 64.0;

constexpr SampleCell kEmpty = {std::numeric_limits<double>::infinity(),
                               -std::numeric_limits<double>::infinity(), 0};

constexpr std::uint64_t kZero = std::uint64_t{1} << 63;

/// Whole numbers in the order of the doubles, 0 and -0 alike, x and -x equally far from kZero.
std::uint64_t key_of(double value) {
  const auto size = std::bit_cast<std::uint64_t>(std::fabs(value));
  return std::signbit(value) ? kZero - size : kZero + size;
}

double value_of(std::uint64_t key) {
  return key < kZero ? -std::bit_cast<double>(kZero - key) : std::bit_cast<double>(key - kZero);
}

}  // namespace

double mark_of(double sample) {
  if (std::fabs(sample) < kLeastSample) return 0.0;
  // Halfway goes down, as a bin's upper end belongs to it.
  return value_of((key_of(sample) + kMarkStep / 2 - 1) / kMarkStep * kMarkStep);
}

double below_mark(double mark) {
  return mark == 0.0 ? -0.5 * kLeastSample : value_of(key_of(mark) - kMarkStep / 2);
}

double just_before(double sample) {
  return mark_of(sample) == 0.0 ? -kLeastSample : value_of(key_of(sample) - kMarkStep);
}

Bulk bulk_of(const std::vector<SampleCell>& cells) {
  double total = 0.0;
  for (const SampleCell& cell : cells) total += static_cast<double>(cell.count);
  const double most = std::max(1.0, total / kSampleBins);
  const auto counted = [&](size_t i) {
    const auto count = static_cast<double>(cells[i].count);
    return cells[i].is_single() ? std::min(count, most) : count;
  };
  double half = 0.0;
  for (size_t i = 0; i < cells.size(); ++i) half += 0.5 * counted(i);

  const double ends = cells.back().greatest - cells.front().least;
  Bulk best{cells.front().least + 0.5 * ends, ends};
  double held = 0.0;
  size_t first = 0;
  for (size_t last = 0; last < cells.size(); ++last) {
    held += counted(last);
    while (held - counted(first) >= half) held -= counted(first++);
    const double width = cells[last].greatest - cells[first].least;
    if (held >= half && width > 0.0 && width < best.width) {
      best = {cells[first].least + 0.5 * width, width};
    }
  }
  return best;
}

double Fineness::most() const {
  return coarseness * std::max(1.0, static_cast<double>(total) / kSampleBins);
}

double Fineness::widest(double least, double greatest, size_t rank) const {
  const double nearest = std::clamp(bulk.middle, least, greatest);
  const double distance = std::fabs(nearest - bulk.middle) + bulk.width;
  const double share = std::min(1.0, static_cast<double>(rank) / kEndRanks);
  return coarseness * kRelativeWidth * share * distance;
}

SampleCells::SampleCells(double clip) : clip_(clip) {
  std::vector<std::uint64_t> starts(kParts);
  for (size_t i = 0; i < kParts; ++i) starts[i] = std::uint64_t{i} << kLowerBits;
  cut(std::move(starts));
}

void SampleCells::cut(std::vector<std::uint64_t> starts) {
  starts_ = std::move(starts);
  parts_.assign(starts_.size(), kEmpty);
  first_.assign(kParts + 1, 0);
  size_t part = 0;
  for (size_t upper = 0; upper < kParts; ++upper) {
    const std::uint64_t key = std::uint64_t{upper} << kLowerBits;
    while (part + 1 < starts_.size() && starts_[part + 1] <= key) ++part;
    first_[upper] = static_cast<std::uint32_t>(part);
  }
  first_[kParts] = static_cast<std::uint32_t>(starts_.size() - 1);
}

/// The last part that starts at or before the key.
size_t SampleCells::part_of(std::uint64_t key) const {
  const size_t upper = key >> kLowerBits;
  const auto begin = starts_.begin() + first_[upper] + 1;
  const auto end = starts_.begin() + first_[upper + 1] + 1;
  return static_cast<size_t>(std::upper_bound(begin, end, key) - starts_.begin()) - 1;
}

void SampleCells::add(std::span<const double> block) {
  for (const double sample : block) {
    SampleCell& part = parts_[part_of(key_of(mark_of(sample)))];
    part.least = std::min(part.least, sample);
    part.greatest = std::max(part.greatest, sample);
    ++part.count;
  }
  seen_ += block.size();
}

size_t SampleCells::clipped_count() const {
  // A hair more, so that rounding loses no sample.
  return static_cast<size_t>((1.0 - clip_) * static_cast<double>(total_) * (1.0 + 1e-9));
}

double SampleCells::value_at(size_t rank) const {
  size_t cell = 0;
  for (size_t before = cells_[0].count; before <= rank; before += cells_[cell].count) ++cell;
  return cells_[cell].least;
}

Domain SampleCells::clipped_ends() const {
  const size_t clipped = clipped_count();
  if (clipped == 0) return {cells_.front().least, cells_.back().greatest};
  return {value_at(clipped), value_at(total_ - 1 - clipped)};
}

std::vector<char> SampleCells::coarse_cells() const {
  std::vector<char> coarse(cells_.size());
  const Fineness fineness{bulk_of(cells_), total_, kCellShare};
  const size_t clipped = clipped_count();
  const size_t other = total_ - 1 - clipped;
  size_t before = 0;
  for (size_t i = 0; i < cells_.size(); ++i) {
    const SampleCell& cell = cells_[i];
    const size_t after = before + cell.count;
    const size_t rank = std::min(after, total_ - before);
    // Holds the sample at which clipping ends, on either side.
    const bool wanted = clipped > 0 && ((before <= clipped && clipped < after) ||
                                        (before <= other && other < after));
    const bool fine =
        static_cast<double>(cell.count) <= fineness.most() &&
        cell.greatest - cell.least <= fineness.widest(cell.least, cell.greatest, rank);
    coarse[i] = !cell.is_single() && (wanted || !fine);
    before = after;
  }
  return coarse;
}

std::vector<std::uint64_t> SampleCells::finer_starts(const std::vector<char>& coarse) const {
  const auto many = static_cast<size_t>(std::count(coarse.begin(), coarse.end(), 1));
  const size_t cuts = std::clamp(kCutsInAll / many, kFewestCuts, kMostCuts);
  std::vector<std::uint64_t> starts;
  for (size_t i = 0; i < cells_.size(); ++i) {
    const std::uint64_t first = key_of(mark_of(cells_[i].least));
    const std::uint64_t last = key_of(mark_of(cells_[i].greatest));
    starts.push_back(first);
    if (!coarse[i]) continue;
    const std::uint64_t step = (last - first) / cuts + 1;
    for (std::uint64_t key = first + step; key <= last; key += step) {
      starts.push_back(key);
    }
  }
  starts.front() = 0;
  return starts;
}

bool SampleCells::needs_another_pass() {
  cells_.clear();
  for (const SampleCell& part : parts_) {
    if (part.count > 0) cells_.push_back(part);
  }
  total_ = seen_;
  seen_ = 0;
  if (cells_.size() < 2 && (cells_.empty() || cells_.front().is_single())) return false;
  const auto coarse = coarse_cells();
  if (std::count(coarse.begin(), coarse.end(), 1) == 0) return false;
  cut(finer_starts(coarse));
  return true;
}

}  // namespace fewbit::solver
