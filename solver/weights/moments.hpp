#pragma once

#include <span>
#include <vector>

#include "table/table.hpp"
#include "weights/sample_reader.hpp"

namespace fewbit::solver {
inline namespace sampling {

/// Least, greatest, mean and variance of a stream. Each block is centred on its own mean and joined
/// to the rest by Chan's formula: stable also where the mean exceeds the spread by far.
class Moments {
 public:
  void add(std::span<const double> block);

  size_t count() const { return count_; }
  double least() const { return least_; }
  double greatest() const { return greatest_; }
  double mean() const { return origin_ + mean_; }
  /// Standard deviation of the samples as they are (divided by n).
  double spread() const;

 private:
  size_t count_ = 0;
  double least_ = 0.0;
  double greatest_ = 0.0;
  double origin_ = 0.0;   ///< the first number: near the others, unlike 0
  double mean_ = 0.0;     ///< less the origin
  double squares_ = 0.0;  ///< sum of squared distances from the mean
};

/// More than a few hundred units of equal masses are sorted by mean and joined in runs: means
/// averaged, spreads by root mean square.
std::vector<UnitSpec> joined_units(std::vector<UnitSpec> units);

/// Mean and standard deviation of each column of a two-dimensional array, by Welford's recurrence.
class UnitMoments {
 public:
  /// Does nothing for shapes without columns, with a single row, or with more than 2^20 columns.
  explicit UnitMoments(const SampleShape& shape);

  /// The next numbers in the file's order.
  void add(std::span<const double> block);

  /// Of equal masses, joined where there are too many. No spread is less than `least_spread`.
  std::vector<UnitSpec> units(double least_spread) const;

 private:
  void add_to(size_t column, size_t row, double value);

  SampleShape shape_;
  size_t row_ = 0;
  size_t column_ = 0;
  std::vector<double> means_;
  std::vector<double> squares_;
};

}  // namespace sampling
}  // namespace fewbit::solver
