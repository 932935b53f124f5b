#include "table/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fewbit::solver {

namespace {

struct Format {
  int digits;        ///< bits of the significand, the hidden one included
  int min_exponent;  ///< of the smallest normal value
  double largest;
};

Format format_of(DataType dtype) {
  if (dtype == DataType::bf16) return {8, -126, 0x1.fep127};
  if (dtype == DataType::fp16) return {11, -14, 65504.0};
  return {24, -126, static_cast<double>(std::numeric_limits<float>::max())};
}

}  // namespace

double round_down(double t, DataType dtype) {
  if (dtype == DataType::exact || t == 0.0 || !std::isfinite(t)) return t;
  const Format format = format_of(dtype);
  if (t > format.largest) return format.largest;
  // Scaling by powers of two is exact, so only the floor rounds.
  const int shift = std::max(std::ilogb(t), format.min_exponent) - (format.digits - 1);
  const double rounded = std::ldexp(std::floor(std::ldexp(t, -shift)), shift);
  return rounded < -format.largest ? -std::numeric_limits<double>::infinity() : rounded;
}

namespace {

void drop_unused_levels(Table& table) {
  std::vector<int> number(table.levels.size(), -1);
  for (const int code : table.codes) number[static_cast<size_t>(code)] = 0;
  std::vector<double> levels;
  for (size_t level = 0; level < number.size(); ++level) {
    if (number[level] < 0) continue;
    number[level] = static_cast<int>(levels.size());
    levels.push_back(table.levels[level]);
  }
  for (int& code : table.codes) code = number[static_cast<size_t>(code)];
  table.levels = std::move(levels);
}

}  // namespace

Table round_thresholds(const Table& table, DataType dtype) {
  Table rounded = table;
  rounded.problem.dtype = dtype;
  if (table.problem.form == Form::unbiased || dtype == DataType::exact) return rounded;
  rounded.thresholds.clear();
  rounded.codes.clear();
  // An interval ends at its threshold; it is empty when that is not above the one before. |x| has
  // no values below zero to begin with, and x = 0 alone is no interval.
  double before = table.symmetry == Symmetry::even ? 0.0 : -std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < table.codes.size(); ++i) {
    const bool last = i == table.thresholds.size();
    const double end =
        last ? std::numeric_limits<double>::infinity() : round_down(table.thresholds[i], dtype);
    if (!last && end <= before) continue;
    const int code = table.codes[i];
    if (!rounded.codes.empty() && rounded.codes.back() == code) {
      rounded.thresholds.pop_back();  // the border to an equal neighbour
    } else {
      rounded.codes.push_back(code);
    }
    if (!last) rounded.thresholds.push_back(end);
    before = end;
  }
  drop_unused_levels(rounded);
  return rounded;
}

}  // namespace fewbit::solver
