#include "weights/moments.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace fewbit::solver {
inline namespace sampling {

void Moments::add(std::span<const double> block) {
  if (block.empty()) return;
  if (count_ == 0) least_ = greatest_ = origin_ = block.front();
  const auto [low, high] = std::minmax_element(block.begin(), block.end());
  least_ = std::min(least_, *low);
  greatest_ = std::max(greatest_, *high);

  const auto added = static_cast<double>(block.size());
  double sum = 0.0;
  for (const double value : block) sum += value - origin_;
  const double mean = sum / added;
  double squares = 0.0;
  double rest = 0.0;
  for (const double value : block) {
    const double distance = (value - origin_) - mean;
    squares += distance * distance;
    rest += distance;
  }
  squares -= rest * rest / added;

  const auto before = static_cast<double>(count_);
  const double step = mean - mean_;
  squares_ += squares + step * step * before * added / (before + added);
  mean_ += step * added / (before + added);
  count_ += block.size();
}

double Moments::spread() const {
  return count_ == 0 ? 0.0 : std::sqrt(std::max(squares_, 0.0) / static_cast<double>(count_));
}

UnitMoments::UnitMoments(const SampleShape& shape) : shape_(shape) {
  constexpr size_t kMostColumns = size_t{1} << 20;
  if (shape.rows < 2 || shape.columns > kMostColumns) shape_ = {};
  means_.resize(shape_.columns);
  squares_.resize(shape_.columns);
}

void UnitMoments::add(std::span<const double> block) {
  if (shape_.columns == 0) return;
  for (const double value : block) {
    add_to(column_, row_, value);
    if (shape_.column_major) {
      row_ = (row_ + 1) % shape_.rows;
      column_ += row_ == 0;
    } else {
      column_ = (column_ + 1) % shape_.columns;
      row_ += column_ == 0;
    }
  }
}

void UnitMoments::add_to(size_t column, size_t row, double value) {
  const double distance = value - means_[column];
  means_[column] += distance / static_cast<double>(row + 1);
  squares_[column] += distance * (value - means_[column]);
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
  const size_t count = shape_.columns;
  const double share = count == 0 ? 0.0 : 1.0 / static_cast<double>(count);
  std::vector<UnitSpec> all(count);
  for (size_t i = 0; i < count; ++i) {
    const double spread = std::sqrt(squares_[i] / static_cast<double>(shape_.rows));
    all[i] = {means_[i], std::max(spread, least_spread), share};
  }
  return joined_units(std::move(all));
}

}  // namespace sampling
}  // namespace fewbit::solver
