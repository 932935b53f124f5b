#include "weights/sample_bins.hpp"

#include <algorithm>

#include "weights/densities.hpp"
#include "weights/samples.hpp"

namespace fewbit::solver {

namespace {

/// What is left of a bin on either side of its samples is cut off where it exceeds this share.
constexpr double kSlack = 0.25;

/// Neighbouring cells together, as many as a bin may hold.
std::vector<SampleCell> groups_of(const std::vector<SampleCell>& cells, const Fineness& fineness) {
  std::vector<SampleCell> groups;
  size_t before = 0;  // samples before the last group
  for (const SampleCell& cell : cells) {
    if (!groups.empty()) {
      SampleCell& group = groups.back();
      const size_t count = group.count + cell.count;
      const size_t rank = std::min(before + count, fineness.total - before);
      if (static_cast<double>(count) <= fineness.most() &&
          cell.greatest - group.least <= fineness.widest(group.least, cell.greatest, rank)) {
        group = {group.least, cell.greatest, count};
        continue;
      }
      before += group.count;
    }
    groups.push_back(cell);
  }
  return groups;
}

/// The gap between two neighbours is shared out where it is short beside both.
bool share_gap(const SampleCell& left, const SampleCell& right) {
  if (left.is_single() || right.is_single()) return false;
  const double narrower = std::min(left.greatest - left.least, right.greatest - right.least);
  return right.least - left.greatest <= kSlack * narrower;
}

/// With its last sample, or that one's mark: at a jump of f' it has the left side's value then, as
/// codes compare x > t.
double end_of(const SampleCell& group) {
  return std::max(group.greatest, mark_of(group.greatest));
}

SampleBins hug(const std::vector<SampleCell>& groups) {
  SampleBins bins;
  const double least = groups.front().least;
  bins.edges.push_back(std::max(just_before(least), -kLargestInput));
  for (size_t i = 0; i < groups.size(); ++i) {
    bins.counts.push_back(groups[i].count);
    if (i + 1 == groups.size()) break;
    const double end = end_of(groups[i]);
    const double begin = just_before(groups[i + 1].least);
    if (begin <= end) {
      bins.edges.push_back(below_mark(mark_of(groups[i + 1].least)));
    } else if (share_gap(groups[i], groups[i + 1])) {
      bins.edges.push_back(end + 0.5 * (begin - end));
    } else {
      bins.edges.insert(bins.edges.end(), {end, begin});
      bins.counts.push_back(0);
    }
  }
  bins.edges.push_back(std::min(end_of(groups.back()), kLargestInput));
  return bins;
}

}  // namespace

SampleBins bins_of(const std::vector<SampleCell>& cells, size_t total) {
  Fineness fineness{bulk_of(cells), total};
  for (;; fineness.coarseness *= 1.25) {
    SampleBins bins = hug(groups_of(cells, fineness));
    if (bins.counts.size() <= kMostSampleBins) return bins;
  }
}

}  // namespace fewbit::solver
