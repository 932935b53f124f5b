#include "weights/sample_bins.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "weights/samples.hpp"

namespace fewbit::solver {
inline namespace sampling {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// What is left of a bin on either side of its samples is cut off where it exceeds this share.
constexpr double kSlack = 0.25;
/// Around zero doubles are finer than bins may be.
constexpr double kLeastWidth = 2e-100;

double just_below(double x) {
  return std::min(std::nextafter(x, -kInfinity), x - kLeastWidth);
}

double just_above(double x) {
  return std::max(std::nextafter(x, kInfinity), x + kLeastWidth);
}

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
  const double narrower = std::min(left.greatest - left.least, right.greatest - right.least);
  return right.least - left.greatest <= kSlack * narrower;
}

SampleBins hug(const std::vector<SampleCell>& groups) {
  SampleBins bins;
  const SampleCell& first = groups.front();
  double end = first.greatest;
  bins.edges.push_back(first.least);
  if (first.is_single()) {
    end = just_above(first.least);
    // The next double is a sample too: it would fall into the first one's bin.
    if (groups.size() > 1 && groups[1].least <= end) {
      bins.edges.back() = just_below(first.least);
      end = first.least;
    }
  }
  for (size_t i = 0; i < groups.size(); ++i) {
    bins.counts.push_back(groups[i].count);
    if (i + 1 == groups.size()) break;
    const SampleCell& next = groups[i + 1];
    if (share_gap(groups[i], next)) {
      end += 0.5 * (next.least - end);
      bins.edges.push_back(std::min(end, just_below(next.least)));
    } else {
      const double begin = just_below(next.least);
      bins.edges.push_back(end);
      if (begin - end >= kLeastWidth) {
        bins.edges.push_back(begin);
        bins.counts.push_back(0);
      }
    }
    end = next.greatest;
  }
  bins.edges.push_back(end);
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

}  // namespace sampling
}  // namespace fewbit::solver
