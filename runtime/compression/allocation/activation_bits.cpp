#include "compression/allocation/activation_bits.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "fewbit/table.hpp"

namespace fewbit::session {

namespace {

/// Of N(0, 1), below x.
double mass_below(double x) {
  return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

/// Of the levels that x from N(0, 1) takes.
double energy_of_levels(const TableData& data) {
  double energy = 0.0;
  double below = 0.0;
  for (size_t i = 0; i < data.interval_codes.size(); ++i) {
    const bool is_last = i == data.thresholds.size();
    double upto = is_last ? 1.0 : mass_below(data.thresholds[i]);
    if (data.even && !is_last) upto = 2.0 * upto - 1.0;  // |x| is cut
    const double level = data.levels[data.interval_codes[i]];
    energy += (upto - below) * level * level;
    below = upto;
  }
  return energy;
}

double relative_error(const Table& table) {
  const TableData& data = table.data();
  // Levels are the means of the derivative where they are taken, or nearly.
  return data.error == 0.0 ? 0.0 : data.error / (data.error + energy_of_levels(data));
}

}  // namespace

std::vector<double> table_errors(const std::string& function,
                                 const std::vector<double>& parameters) {
  constexpr int kSolved = 4, kMostBits = 8;
  std::vector<double> errors;
  for (int bits = 1; bits <= kMostBits; ++bits) {
    errors.push_back(bits <= kSolved
                         ? relative_error(Table::standard(function, Bits{bits}, parameters))
                         : errors.back() / 4.0);
  }
  return errors;
}

int bits_for(const std::vector<double>& errors, double most) {
  const auto least = std::ranges::find_if(errors, [most](double error) { return error <= most; });
  const auto bits = static_cast<size_t>(least - errors.begin()) + 1;
  return static_cast<int>(std::min(bits, errors.size()));
}

}  // namespace fewbit::session
