#include "report/paper_table.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "functions/registry.hpp"
#include "report/names.hpp"
#include "report/study.hpp"

namespace fewbit::solver {

namespace {

struct PaperRow {
  const char* function;
  std::array<double, 4> errors;  ///< for 1 to 4 bits, as printed
  int bits;                      ///< how many of them the paper gives
};

constexpr std::array<PaperRow, 7> kPaper{{{"relu", {0.0, 0.0, 0.0, 0.0}, 1},
                                          {"gelu", {.1410, .0406, .0119, .0031}, 4},
                                          {"silu", {.2150, .0479, .0170, .0045}, 4},
                                          {"sigmoid", {.0181, .0038, .0009, .0002}, 4},
                                          {"tanh", {.1584, .0319, .0073, .0017}, 4},
                                          {"selu", {.2554, .1010, .0184, .0039}, 4},
                                          {"softplus", {.2902, .0541, .0121, .0029}, 4}}};

/// Half a unit in the last place that the paper prints.
constexpr double kPrinted = 5e-5;

const Table& solved(const Result& result) {
  if (!result.table) throw Error(result.failure);
  return *result.table;
}

std::vector<GridCell> row_of(const char* function, int bits, double paper, const Table& intervals,
                             const Table& levels) {
  const double less = intervals.error > 0.0 ? 1.0 - levels.error / intervals.error : 0.0;
  return {{function},
          {std::to_string(bits)},
          {fmt::format("{:.4f}", paper)},
          {fmt::format("{:.5f}", intervals.error), shortest(intervals.error)},
          {intervals.error <= paper + kPrinted ? "yes" : "no"},
          {fmt::format("{:.5f}", levels.error), shortest(levels.error)},
          {fmt::format("{:.1f} %", std::max(0.0, 100.0 * less)), shortest(less)},
          {fmt::format("{:.1e}", intervals.relative_gap), shortest(intervals.relative_gap)},
          {fmt::format("{:.1e}", levels.relative_gap), shortest(levels.relative_gap)}};
}

}  // namespace

Section paper_section(const ProgressCall& progress) {
  std::vector<Problem> problems;
  for (const auto& row : kPaper) {
    Study study;
    study.functions = {parse_function(row.function)};
    study.forms = {Form::intervals, Form::levels};
    for (int bits = 1; bits <= row.bits; ++bits) study.levels.push_back(1 << bits);
    for (auto& problem : problems_of(study)) problems.push_back(std::move(problem));
  }
  const auto results = solve_all(problems, progress);
  Section section;
  section.id = "paper";
  section.title = "The paper's Table 1";
  section.notes = {
      "Squared error over [-10, 10], uniform weight. The intervals form is the paper's problem; it "
      "counts as reached when it is at most the printed figure plus 5e-5 (half a unit of its last "
      "digit). The levels form stores as many bits."};
  section.grid.columns = {{"function"},
                          {"bits", true},
                          {"paper", true},
                          {"intervals", true},
                          {"reached"},
                          {"levels", true},
                          {"levels below intervals", true},
                          {"gap, intervals", true},
                          {"gap, levels", true}};
  size_t at = 0;
  for (const auto& row : kPaper) {
    const auto count = static_cast<size_t>(row.bits);
    for (size_t i = 0; i < count; ++i) {
      section.grid.rows.push_back(row_of(row.function, static_cast<int>(i) + 1, row.errors[i],
                                         solved(results[at + i]), solved(results[at + count + i])));
    }
    at += 2 * count;
  }
  return section;
}

}  // namespace fewbit::solver
