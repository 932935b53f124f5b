#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "table/table.hpp"

namespace fewbit::solver {

/// Samples closer to zero than this count as zero: bins have to be wider than 1e-100.
inline constexpr double kLeastSample = 1e-80;

/// Samples count as the nearest of these marks: every 512th double, and 0. A bin around one number
/// is as wide as that: the outermost points of a quadrature rule, twice halved, still lie inside.
/// All numbers of 16 and 32 bits are marks.
inline constexpr std::uint64_t kMarkStep = 512;

double mark_of(double sample);

/// Halfway to the mark below a mark.
double below_mark(double mark);
/// A mark's distance below a sample: a bin for it alone lies between both.
double just_before(double sample);

/// The samples of one stretch of the axis: how many, and the ends of them.
struct SampleCell {
  double least;
  double greatest;
  size_t count;

  /// All samples count as one number.
  bool is_single() const { return mark_of(least) == mark_of(greatest); }
};

/// Where most samples are: the shortest stretch that holds half of them. A value that is repeated
/// counts as no more than a bin's share, so that zeros or a mask do not pass for the bulk.
struct Bulk {
  double middle = 0.0;
  double width = 0.0;  ///< positive
};

/// Expects ascending cells with at least two different values.
Bulk bulk_of(const std::vector<SampleCell>& cells);

/// How fine a histogram of samples is.
///   - no bin holds more than the 1024th part of the samples, unless they are one number;
///   - no bin is wider than the 64th part of its distance from the bulk's middle plus the bulk's
///     width; the r-th sample from either end (r < 64) makes that the (4096 / r)-th part.
/// `coarseness` multiplies both.
struct Fineness {
  Bulk bulk;
  size_t total = 0;
  double coarseness = 1.0;

  double most() const;
  /// The widest that samples from `least` to `greatest` may share a bin; `rank` of all samples,
  /// counted from the nearer end, lie up to and including them.
  double widest(double least, double greatest, size_t rank) const;
};

/// Sorts a stream of numbers, gone over several times, into ascending cells as fine as `Fineness`
/// asks for; exact, in memory that does not depend on how many numbers there are. First by the
/// upper 16 bits of a number (sign, exponent, four bits of the fraction), then wherever that is too
/// coarse into ever finer parts of these.
class SampleCells {
 public:
  /// `clip`: the quantile whose value, and that of 1 - clip, are to be known exactly.
  explicit SampleCells(double clip = 1.0);

  /// The next numbers, all finite.
  void add(std::span<const double> block);

  /// Ends a pass. True where another one is needed, over the same numbers.
  bool needs_another_pass();

  /// After the last pass: those that hold samples, ascending.
  const std::vector<SampleCell>& cells() const { return cells_; }
  size_t total() const { return total_; }

  /// The least and the greatest sample that are left when on either side (1 - clip)
  /// total() of them, rounded down, are taken away.
  Domain clipped_ends() const;

 private:
  size_t clipped_count() const;
  double value_at(size_t rank) const;
  size_t part_of(std::uint64_t key) const;
  void cut(std::vector<std::uint64_t> starts);
  std::vector<char> coarse_cells() const;
  std::vector<std::uint64_t> finer_starts(const std::vector<char>& coarse) const;

  double clip_;
  std::vector<std::uint64_t> starts_;  ///< the first key of each part of the axis, ascending
  std::vector<std::uint32_t> first_;  ///< per upper 16 bits: the part that holds the first such key
  std::vector<SampleCell> parts_;     ///< one for each start
  std::vector<SampleCell> cells_;
  size_t total_ = 0;
  size_t seen_ = 0;
};

}  // namespace fewbit::solver
