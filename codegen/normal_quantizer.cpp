#include "codegen/normal_quantizer.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include <fmt/format.h>

#include "base/error.hpp"
#include "codegen/kernel_files.hpp"
#include "codegen/literal.hpp"
#include "codegen/templates.hpp"
#include "functions/quantizers.hpp"

namespace fewbit::codegen {

namespace {

using solver::Table;

constexpr int kMostBits = 8;
constexpr double kSymmetry = 1e-6;

[[noreturn]] void refuse(const Table& table, const std::string& fault) {
  throw Error(
      fmt::format("the {}-bit table of {} {}", table.bits(), table.problem.function.name, fault));
}

void check_table(const Table& table) {
  const solver::WeightSpec normal{"normal", {{"mean", 0.0}, {"sigma", 1.0}}, {}, {}, {}};
  const solver::Problem& problem = table.problem;
  if (problem.form != solver::Form::levels || problem.objective.smoothed ||
      problem.dtype != solver::DataType::exact || problem.weight != normal) {
    refuse(table, "is not of form levels for N(0, 1)");
  }
  std::vector<int> codes(size_t{1} << table.bits());
  std::iota(codes.begin(), codes.end(), 0);
  if (table.symmetry != solver::Symmetry::none || table.codes != codes ||
      table.levels.size() != codes.size() || table.thresholds.size() + 1 != codes.size()) {
    refuse(table, "has not one interval for each of its codes");
  }
}

/// The mean of the upper half of `values` and the mirrored lower half, as float. Of an odd number
/// the one in the middle is left out: it must be 0.
std::vector<float> upper_half(const Table& table, const std::vector<double>& values) {
  const size_t half = values.size() / 2;
  if (values.size() % 2 != 0 && std::fabs(values[half]) > kSymmetry * table.levels.back()) {
    refuse(table, "is not symmetric: its middle threshold is not 0");
  }
  std::vector<float> upper;
  for (size_t i = values.size() - half; i < values.size(); ++i) {
    const double above = values[i];
    const double below = -values[values.size() - 1 - i];
    const double mean = 0.5 * (above + below);
    if (!(std::fabs(above - below) <= kSymmetry * mean)) {
      refuse(table, fmt::format("is not symmetric: {} and {}", -below, above));
    }
    upper.push_back(static_cast<float>(mean));
  }
  return upper;
}

std::string array_name(const char* part, int bits) {
  return fmt::format("k{}{}", part, bits);
}

std::string array_text(const std::string& name, const std::vector<float>& values) {
  std::vector<std::string> items;
  for (const float value : values) items.push_back(decimal_literal(value));
  return fmt::format("inline constexpr float {}[] = {{\n{}}};\n", name, comma_list(items, 4));
}

std::string arrays_of(const Table& table) {
  check_table(table);
  const std::vector<float> thresholds = upper_half(table, table.thresholds);
  std::string text;
  if (!thresholds.empty()) text = array_text(array_name("Thresholds", table.bits()), thresholds);
  return text + array_text(array_name("Levels", table.bits()), upper_half(table, table.levels));
}

std::string entry_of(const Table& table) {
  const int bits = table.bits();
  return fmt::format("    {{{}, {}, {}, {}}},\n", bits,
                     bits == 1 ? "nullptr" : array_name("Thresholds", bits),
                     array_name("Levels", bits), double_literal(table.error));
}

/// One for each number of bits, ascending; none at all where `tables` has none.
std::vector<Table> value_tables(const std::vector<Table>& tables) {
  std::vector<Table> ours;
  std::copy_if(tables.begin(), tables.end(), std::back_inserter(ours), [](const Table& table) {
    return table.problem.function.name == solver::kValueQuantizer;
  });
  std::sort(ours.begin(), ours.end(),
            [](const Table& a, const Table& b) { return a.bits() < b.bits(); });
  for (size_t i = 0; i < ours.size(); ++i) {
    if (ours[i].bits() != static_cast<int>(i) + 1)
      refuse(ours[i], "does not follow the one before");
  }
  if (!ours.empty() && ours.size() != kMostBits) refuse(ours.back(), "is the last: 8 are needed");
  return ours;
}

}  // namespace

Files normal_quantizer_files(const std::vector<Table>& tables) {
  const std::vector<Table> ours = value_tables(tables);
  if (ours.empty()) return {};
  std::string arrays;
  std::string entries;
  for (const Table& table : ours) {
    arrays += arrays_of(table);
    entries += entry_of(table);
  }
  return {{"normal_quantizer.hpp",
           render("normal_quantizer.in", {{"NAME", std::string(solver::kValueQuantizer)},
                                          {"ARRAYS", arrays},
                                          {"ENTRIES", entries}})}};
}

}  // namespace fewbit::codegen
