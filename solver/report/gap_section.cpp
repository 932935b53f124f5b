#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/chart_svg.hpp"
#include "report/names.hpp"
#include "report/result_sections.hpp"

namespace fewbit::solver {

namespace {

/// The smallest figure that a chart of gaps tells apart from zero.
constexpr double kGapFloor = 1e-13;
constexpr double kGapGoal = 1e-9;
constexpr size_t kRowsOfAChart = 8;

/// The bound of a smoothed table is the squared optimum's: the distance is no gap in a proof.
bool has_gap(const Result& result) {
  return !result.problem.objective.smoothed;
}

/// The functions that have dots to show.
std::vector<size_t> shown_functions(const ResultIndex& index) {
  std::set<size_t> shown;
  for (const auto& [key, results] : index.cells) {
    const bool any =
        std::any_of(results.begin(), results.end(), [](const Result* r) { return has_gap(*r); });
    if (any && !index.exact(key.first)) shown.insert(key.first);
  }
  return {shown.begin(), shown.end()};
}

/// Gaps of one function's tables; `row` is its place in its chart.
void add_gaps(std::vector<Series>& groups, const ResultIndex& index, size_t function, size_t row) {
  for (size_t v = 0; v < index.variants.size(); ++v) {
    const auto found = index.cells.find({function, v});
    if (found == index.cells.end()) continue;
    for (const Result* result : found->second) {
      if (!has_gap(*result)) continue;
      groups[v].x.push_back(result->table->relative_gap);
      groups[v].y.push_back(static_cast<double>(row));
    }
  }
}

/// Charts of a few functions each, so that they stand side by side where there is room.
std::vector<Figure> gap_figures(const ResultIndex& index, double worst) {
  const auto functions = shown_functions(index);
  const DotScale scale{kGapFloor, std::max(worst, 10 * kGapGoal), kGapGoal};
  std::vector<Figure> figures;
  for (size_t begin = 0; begin < functions.size(); begin += kRowsOfAChart) {
    const size_t end = std::min(begin + kRowsOfAChart, functions.size());
    std::vector<std::string> rows;
    std::vector<Series> groups;
    for (size_t v = 0; v < index.variants.size(); ++v) {
      groups.push_back({index.variants[v], v, {}, {}});
    }
    for (size_t i = begin; i < end; ++i) {
      rows.push_back(index.functions[functions[i]]);
      add_gaps(groups, index, functions[i], i - begin);
    }
    const std::string title =
        rows.size() == 1 ? rows[0] : fmt::format("{} to {}", rows.front(), rows.back());
    figures.push_back(
        {title,
         fmt::format("relative gap, log scale; dashed: the goal, {}; below {} drawn at that end",
                     shortest(kGapGoal), shortest(kGapFloor)),
         dot_chart("Relative gap: " + title, rows, groups, scale)});
  }
  return figures;
}

}  // namespace

Section gap_section(const ResultIndex& index) {
  double worst = 0.0;
  size_t tables = 0;
  for (const auto& [key, results] : index.cells) {
    for (const Result* result : results) {
      if (!has_gap(*result)) continue;
      worst = std::max(worst, result->table->relative_gap);
      ++tables;
    }
  }
  Section section;
  section.id = "gap";
  section.title = "Proof";
  if (tables == 0) {
    section.notes = {
        "Smoothed tables are local optima of their objective: no gap is proven for them."};
    return section;
  }
  section.notes = {fmt::format(
      "Relative gap (error - lower bound) / error: no table of the same form and size is better "
      "than the attained error by more than that. The largest of {} table{} is {}.",
      tables, tables == 1 ? "" : "s", short_number(worst, 2))};
  section.figures = gap_figures(index, worst);
  if (section.figures.empty()) return section;
  section.legend = index.legend();
  return section;
}

}  // namespace fewbit::solver
