#pragma once

#include <span>
#include <vector>

#include "table/table.hpp"
#include "weights/samples.hpp"

namespace fewbit::solver {

/// More than a few hundred units of equal masses are sorted by mean and joined in runs: means
/// averaged, spreads by root mean square.
std::vector<UnitSpec> joined_units(std::vector<UnitSpec> units);

/// Mean and standard deviation of each column of a two-dimensional array, which may go on in
/// several files, by Welford's recurrence.
class UnitMoments {
 public:
  /// `all`: the columns, and the rows of all files together. Does nothing for shapes without
  /// columns, with a single row, or with more than kMostColumns.
  explicit UnitMoments(const SampleShape& all);

  /// The numbers that follow are a file's, with its share of the rows.
  void begin(const SampleShape& file);

  /// The next numbers in the file's order.
  void add(std::span<const double> block);

  /// Of equal masses, joined where there are too many. No spread is less than `least_spread`.
  std::vector<UnitSpec> units(double least_spread) const;

  /// The array looks like units x samples: it has at least four times as many columns as rows, and
  /// it is rows whose means differ. With the variance of the means of either over the whole
  /// variance, less what chance gives (one over their length): that of the rows exceeds 0.02 and
  /// twice that of the columns.
  bool looks_transposed() const;

  static constexpr size_t kMostColumns = size_t{1} << 20;

 private:
  void add_to(size_t column, size_t row, double value);

  SampleShape all_;
  SampleShape file_;
  size_t rows_before_ = 0;
  size_t row_ = 0;
  size_t column_ = 0;
  std::vector<double> means_;
  std::vector<double> squares_;
  std::vector<double> row_sums_;  ///< empty where there are too many rows to look transposed
};

}  // namespace fewbit::solver
