#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/describe.hpp"
#include "report/names.hpp"
#include "report/result_sections.hpp"
#include "report/table_svg.hpp"

namespace fewbit::solver {

namespace {

std::string form_name(const Objective& objective, Form form) {
  if (!objective.smoothed) return to_string(form);
  const Objective usual;
  if (objective.tau == usual.tau && objective.lambda == usual.lambda) return "smoothed";
  return fmt::format("smoothed (tau {}, lambda {})", shortest(objective.tau),
                     shortest(objective.lambda));
}

/// "1.5 2 3"
template <class Values, class Text>
std::string list_of(const Values& values, const Text& text) {
  std::string list;
  for (const auto& value : values) list += (list.empty() ? "" : " ") + text(value);
  return list;
}

std::vector<Column> columns_of(const std::vector<Result>& results) {
  const auto none = [&](const auto& shown) {
    return std::none_of(results.begin(), results.end(), shown);
  };
  return {
      {"function"},
      {"form"},
      {"weight"},
      {"domain"},
      {"bits", true},
      {"levels", true},
      {"thresholds", true},
      {"squared error", true},
      {"rms error", true},
      {"smoothed bias", true},
      {"lower bound", true},
      {"relative gap", true},
      {"dtype", false, none([](const Result& r) { return r.problem.dtype != DataType::exact; })},
      {"file", false, none([](const Result& r) { return !r.file.empty(); })},
      {"expression", false, true},
      {"solver", false, true},
      {"symmetry", false, true},
      {"threshold values", false, true},
      {"codes", false, true},
      {"level values", false, true}};
}

std::vector<GridCell> row_of(const Result& result, const std::string& function,
                             const std::string& weight) {
  const Table& table = *result.table;
  const Problem& problem = table.problem;
  const auto number = [](double value, int digits) {
    return GridCell{short_number(value, digits), shortest(value)};
  };
  const auto count = [](size_t value) { return GridCell{std::to_string(value)}; };
  return {{function},
          {form_name(problem.objective, problem.form)},
          {weight},
          {domain_name(problem.domain)},
          {std::to_string(table.bits())},
          count(table.levels.size()),
          count(table.thresholds.size()),
          number(table.error, 5),
          number(rms_error(table), 4),
          number(table.smoothed_bias, 4),
          number(table.lower_bound, 5),
          number(table.relative_gap, 2),
          {to_string(problem.dtype)},
          {result.file},
          {problem.function.expression},
          {table.solver},
          {to_string(table.symmetry)},
          {list_of(table.thresholds, shortest)},
          {list_of(table.codes, [](int code) { return std::to_string(code); })},
          {list_of(table.levels, shortest)}};
}

/// One row per interval, or per level where there are no intervals; all digits.
Grid details_of(const Table& table) {
  if (table.codes.empty()) {
    Grid grid{{{"code", true}, {"level", true}}, {}};
    for (size_t i = 0; i < table.levels.size(); ++i) {
      grid.rows.push_back({{std::to_string(i)}, {shortest(table.levels[i])}});
    }
    return grid;
  }
  const char* up_to = table.symmetry == Symmetry::even ? "|x| up to" : "x up to";
  Grid grid{{{up_to, true}, {"code", true}, {"level", true}}, {}};
  for (size_t i = 0; i < table.codes.size(); ++i) {
    const std::string end =
        i < table.thresholds.size() ? shortest(table.thresholds[i]) : std::string("inf");
    const int code = table.codes[i];
    grid.rows.push_back(
        {{end}, {std::to_string(code)}, {shortest(table.levels[static_cast<size_t>(code)])}});
  }
  return grid;
}

Figure figure_of(const Table& table, const std::string& function, const std::string& variant) {
  return {fmt::format("{}, {}", function, size_name(table)),
          fmt::format("{}: error {}, bias {}", variant, short_number(table.error),
                      short_number(table.smoothed_bias, 2)),
          table_thumbnail(table), "Levels and thresholds", details_of(table)};
}

/// One sentence for all problems that failed for the same reason.
std::vector<std::string> failure_notes(const std::vector<Result>& results, const Labels& labels) {
  std::map<std::string, std::vector<std::string>> failures;
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].table) continue;
    auto& names = failures[results[i].failure];
    const std::string name = labels.function[i] + " (" + labels.variant[i] + ")";
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  std::vector<std::string> notes;
  for (const auto& [reason, names] : failures) {
    notes.push_back(fmt::format("No table for {}: {}.", fmt::join(names, ", "), reason));
  }
  return notes;
}

}  // namespace

Section table_section(const std::vector<Result>& results, const Labels& labels) {
  Section section;
  section.id = "tables";
  section.title = "All tables";
  section.notes = {
      "For a smoothed table the lower bound is the proven squared optimum, so its gap is the price "
      "of less bias.",
      "In the pictures the smooth curve is f', the steps are the table (levels without steps: the "
      "unbiased form) and the shade is the density of the inputs. In the lists below them each row "
      "is an interval, from the end of the row before (not included) up to its own (included)."};
  section.grid.columns = columns_of(results);
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i].table) continue;
    const Table& table = *results[i].table;
    section.grid.rows.push_back(row_of(results[i], labels.function[i], labels.weight[i]));
    section.figures.push_back(figure_of(table, labels.function[i], labels.variant[i]));
  }
  for (auto& note : failure_notes(results, labels)) section.notes.push_back(std::move(note));
  return section;
}

Section function_section(const std::vector<Result>& results, const Labels& labels) {
  Section section;
  section.id = "functions";
  section.title = "Functions";
  section.grid.columns = {{"function"}, {"f(x)", false, false, true}};
  section.in_csv = false;
  for (size_t i = 0; i < results.size(); ++i) {
    const bool seen =
        std::any_of(section.grid.rows.begin(), section.grid.rows.end(),
                    [&](const auto& row) { return row[0].text == labels.function[i]; });
    if (!seen) {
      section.grid.rows.push_back({{labels.function[i]}, {results[i].problem.function.expression}});
    }
  }
  return section;
}

}  // namespace fewbit::solver
