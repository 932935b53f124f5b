#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/chart_svg.hpp"
#include "report/names.hpp"
#include "report/result_sections.hpp"

namespace fewbit::solver {

namespace {

/// A figure of tables that is shown against their bits.
struct Measure {
  const char* id;
  const char* title;
  const char* note;
  double Table::*value;
};

constexpr Measure kError{
    "error", "Squared error",
    "The integral of w (f' - q)^2 over the domain; for unbiased tables its expectation.",
    &Table::error};

constexpr Measure kBias{
    "bias", "Smoothed bias",
    "Root mean square of q - f' after smoothing by each unit's own scatter: training follows it "
    "more closely than the squared error. Unbiased tables have none.",
    &Table::smoothed_bias};

/// Bits that a problem's table may use, whatever it needs in the end.
int asked_bits(int levels) {
  int bits = 1;
  while ((1 << bits) < levels) ++bits;
  return bits;
}

std::string column_name(int levels) {
  const int bits = asked_bits(levels);
  if (levels != 1 << bits) return fmt::format("{} levels", levels);
  return fmt::format("{} bit{}", bits, bits == 1 ? "" : "s");
}

GridCell cell_of(const std::vector<const Result*>& results, int levels, const Measure& measure) {
  for (const Result* result : results) {
    if (result->problem.levels != levels) continue;
    const double value = *result->table.*measure.value;
    return {short_number(value), shortest(value)};
  }
  return {"-"};
}

Grid digest_grid(const ResultIndex& index, const Measure& measure) {
  Grid grid{{{"function"}, {"table"}}, {}};
  for (const int levels : index.sizes) grid.columns.push_back({column_name(levels), true});
  for (const auto& [key, results] : index.cells) {
    if (index.exact(key.first)) continue;
    std::vector<GridCell> row{{index.functions[key.first]}, {index.variants[key.second]}};
    for (const int levels : index.sizes) row.push_back(cell_of(results, levels, measure));
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

std::vector<Series> lines_of(const ResultIndex& index, size_t function, const Measure& measure) {
  std::vector<Series> lines;
  for (size_t v = 0; v < index.variants.size(); ++v) {
    const auto found = index.cells.find({function, v});
    if (found == index.cells.end()) continue;
    Series line{index.variants[v], v, {}, {}};
    for (const Result* result : found->second) {
      line.x.push_back(asked_bits(result->problem.levels));
      line.y.push_back(*result->table.*measure.value);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

/// Positive values at two numbers of bits: one would be no line.
bool worth_drawing(const std::vector<Series>& lines) {
  std::set<double> bits;
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.x.size(); ++i) {
      if (line.y[i] > 0.0) bits.insert(line.x[i]);
    }
  }
  return bits.size() > 1;
}

Section bits_section(const ResultIndex& index, const Measure& measure) {
  Section section;
  section.id = measure.id;
  section.title = measure.title;
  section.notes = {measure.note};
  section.legend = index.legend();
  section.grid = digest_grid(index, measure);
  section.in_csv = false;
  for (size_t f = 0; f < index.functions.size(); ++f) {
    const auto lines = lines_of(index, f, measure);
    if (!worth_drawing(lines)) continue;
    const std::string caption = fmt::format("{} against bits, log scale", measure.title);
    section.figures.push_back(
        {index.functions[f], caption, bits_chart(index.functions[f] + ": " + caption, lines)});
  }
  return section;
}

}  // namespace

Section error_section(const ResultIndex& index) {
  Section section = bits_section(index, kError);
  const std::string exact = index.exact_list();
  if (!exact.empty()) section.notes.push_back("Exact, with error and bias 0: " + exact + ".");
  return section;
}

Section bias_section(const ResultIndex& index) {
  return bits_section(index, kBias);
}

}  // namespace fewbit::solver
