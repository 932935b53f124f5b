#include "weights/moments.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace fewbit::solver {

namespace {

double variance_of(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  double mean = 0.0;
  for (const double value : values) mean += value / count;
  double variance = 0.0;
  for (const double value : values) variance += (value - mean) * (value - mean) / count;
  return variance;
}

}  // namespace

UnitMoments::UnitMoments(const SampleShape& all) : all_(all) {
  if (all.rows < 2 || all.columns > kMostColumns) all_ = {};
  means_.resize(all_.columns);
  squares_.resize(all_.columns);
  if (4 * all_.rows <= all_.columns) row_sums_.resize(all_.rows);
  begin(all);
}

void UnitMoments::begin(const SampleShape& file) {
  rows_before_ += column_ == 0 && row_ == 0 ? 0 : file_.rows;
  file_ = file;
  row_ = column_ = 0;
}

void UnitMoments::add(std::span<const double> block) {
  if (all_.columns == 0) return;
  for (const double value : block) {
    add_to(column_, rows_before_ + row_, value);
    if (file_.column_major) {
      row_ = (row_ + 1) % file_.rows;
      column_ += row_ == 0;
    } else {
      column_ = (column_ + 1) % file_.columns;
      row_ += column_ == 0;
    }
  }
}

void UnitMoments::add_to(size_t column, size_t row, double value) {
  const double distance = value - means_[column];
  means_[column] += distance / static_cast<double>(row + 1);
  squares_[column] += distance * (value - means_[column]);
  if (!row_sums_.empty()) row_sums_[row] += value;
}

std::vector<UnitSpec> joined_units(std::vector<UnitSpec> all) {
  const size_t count = all.size();
  if (count <= kMaxUnits) return all;
  std::sort(all.begin(), all.end(), [](const UnitSpec& a, const UnitSpec& b) {
    return std::tie(a.mean, a.spread) < std::tie(b.mean, b.spread);
  });
  std::vector<UnitSpec> joined(kMaxUnits);
  for (size_t i = 0; i < kMaxUnits; ++i) {
    const size_t begin = i * count / kMaxUnits;
    const size_t end = (i + 1) * count / kMaxUnits;
    const auto size = static_cast<double>(end - begin);
    double mean = 0.0;
    double squares = 0.0;
    for (size_t j = begin; j < end; ++j) {
      mean += all[j].mean / size;
      squares += all[j].spread * all[j].spread / size;
    }
    joined[i] = {mean, std::sqrt(squares), size / static_cast<double>(count)};
  }
  return joined;
}

std::vector<UnitSpec> UnitMoments::units(double least_spread) const {
  const size_t count = all_.columns;
  const double share = count == 0 ? 0.0 : 1.0 / static_cast<double>(count);
  std::vector<UnitSpec> all(count);
  for (size_t i = 0; i < count; ++i) {
    const double spread = std::sqrt(squares_[i] / static_cast<double>(all_.rows));
    all[i] = {means_[i], std::max(spread, least_spread), share};
  }
  return joined_units(std::move(all));
}

bool UnitMoments::looks_transposed() const {
  if (row_sums_.empty()) return false;
  const auto rows = static_cast<double>(all_.rows);
  const auto columns = static_cast<double>(all_.columns);
  const double of_columns = variance_of(means_);
  double whole = of_columns;
  for (const double squares : squares_) whole += squares / rows / columns;
  if (!(whole > 0.0)) return false;
  const double of_rows = variance_of(row_sums_) / columns / columns;
  const double beyond_chance = of_rows / whole - 1.0 / columns;
  return beyond_chance > 0.02 && beyond_chance > 2.0 * (of_columns / whole - 1.0 / rows);
}

}  // namespace fewbit::solver
