#include "report/error_report.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/chart_svg.hpp"
#include "report/describe.hpp"
#include "report/names.hpp"
#include "report/table_svg.hpp"

namespace fewbit::solver {
inline namespace reporting {

namespace {

/// The smallest figure that a chart of gaps tells apart from zero.
constexpr double kGapFloor = 1e-13;
constexpr double kGapGoal = 1e-9;

/// Bits that a problem's table may use, whatever it needs in the end.
int asked_bits(const Problem& problem) {
  int bits = 1;
  while ((1 << bits) < problem.levels) ++bits;
  return bits;
}

/// The distinct names in order of appearance.
class NameList {
 public:
  size_t add(const std::string& name) {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found != names_.end()) return static_cast<size_t>(found - names_.begin());
    names_.push_back(name);
    return names_.size() - 1;
  }
  const std::vector<std::string>& all() const { return names_; }

 private:
  std::vector<std::string> names_;
};

/// The results that have tables by function (row group), variant (colour) and size.
struct Index {
  NameList functions;
  NameList variants;
  std::set<int> sizes;
  std::map<std::pair<size_t, size_t>, std::vector<const Result*>> cells;

  explicit Index(const std::vector<Result>& results) {
    for (const auto& result : results) {
      if (!result.table) continue;
      const size_t function = functions.add(function_name(result.problem.function));
      const size_t variant = variants.add(variant_name(result.problem));
      sizes.insert(result.problem.levels);
      cells[{function, variant}].push_back(&result);
    }
  }

  std::vector<Key> legend() const {
    std::vector<Key> keys;
    for (size_t i = 0; i < variants.all().size(); ++i) keys.push_back({variants.all()[i], i});
    return keys;
  }
};

std::string column_name(int levels) {
  int bits = 1;
  while ((1 << bits) < levels) ++bits;
  if (levels != 1 << bits) return fmt::format("{} levels", levels);
  return fmt::format("{} bit{}", bits, bits == 1 ? "" : "s");
}

Grid digest_grid(const Index& index) {
  Grid grid{{{"function"}, {"table"}}, {}};
  for (const int levels : index.sizes) grid.columns.push_back({column_name(levels), true});
  for (const auto& [key, results] : index.cells) {
    std::vector<Cell> row{{index.functions.all()[key.first]}, {index.variants.all()[key.second]}};
    for (const int levels : index.sizes) {
      Cell cell{"-"};
      for (const Result* result : results) {
        if (result->problem.levels == levels) {
          cell = {short_number(result->table->error)};
        }
      }
      row.push_back(cell);
    }
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

std::vector<Series> error_lines(const Index& index, size_t function) {
  std::vector<Series> lines;
  for (size_t v = 0; v < index.variants.all().size(); ++v) {
    const auto found = index.cells.find({function, v});
    if (found == index.cells.end()) continue;
    Series line{index.variants.all()[v], v, {}, {}};
    for (const Result* result : found->second) {
      line.x.push_back(asked_bits(result->problem));
      line.y.push_back(result->table->error);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

Section digest_section(const Index& index) {
  Section section;
  section.id = "error";
  section.title = "Squared error";
  section.notes = {
      "The integral of w (f' - q)^2 over the domain; for unbiased tables its expectation."};
  section.legend = index.legend();
  section.grid = digest_grid(index);
  section.in_csv = false;
  std::string exact;
  for (size_t f = 0; f < index.functions.all().size(); ++f) {
    const std::string& name = index.functions.all()[f];
    const auto lines = error_lines(index, f);
    const bool zero = std::all_of(lines.begin(), lines.end(), [](const Series& line) {
      return std::all_of(line.y.begin(), line.y.end(), [](double error) { return error == 0.0; });
    });
    if (zero) {
      exact += (exact.empty() ? "" : ", ") + name;
      continue;
    }
    section.figures.push_back(
        {name, "error against bits", error_chart(name + ": error against bits", lines)});
  }
  if (!exact.empty()) section.notes.push_back("Exact, with error 0: " + exact + ".");
  return section;
}

Section gap_section(const Index& index) {
  Section section;
  section.id = "gap";
  section.title = "Proof";
  section.legend = index.legend();
  std::vector<Series> groups;
  double worst = 0.0;
  size_t tables = 0;
  for (size_t v = 0; v < index.variants.all().size(); ++v) {
    groups.push_back({index.variants.all()[v], v, {}, {}});
  }
  for (const auto& [key, results] : index.cells) {
    for (const Result* result : results) {
      // The bound of a smoothed table is the squared optimum's: the distance is no gap in a proof.
      if (result->problem.objective.smoothed) continue;
      worst = std::max(worst, result->table->relative_gap);
      ++tables;
      groups[key.second].x.push_back(result->table->relative_gap);
      groups[key.second].y.push_back(static_cast<double>(key.first));
    }
  }
  section.notes = {
      fmt::format("Relative gap (error - lower bound) / error of {} tables; the largest is "
                  "{}. The dashed line is the goal, {}.",
                  tables, short_number(worst, 2), shortest(kGapGoal))};
  if (tables > 0) {
    section.figures.push_back(
        {"Relative gap",
         fmt::format("log scale; gaps below {} are drawn there", shortest(kGapFloor)),
         dot_chart("Relative gap of every table", index.functions.all(), groups, kGapFloor,
                   kGapGoal),
         true});
  }
  return section;
}

std::vector<Cell> table_row(const Table& table) {
  const Problem& problem = table.problem;
  const auto number = [](double value, int digits) {
    return Cell{short_number(value, digits), shortest(value)};
  };
  const auto count = [](size_t value) { return Cell{std::to_string(value)}; };
  return {{function_name(problem.function)},
          {problem.objective.smoothed ? "smoothed" : to_string(problem.form)},
          {weight_name(problem.weight)},
          {domain_name(problem.domain)},
          {std::to_string(table.bits())},
          count(table.levels.size()),
          count(table.thresholds.size()),
          number(table.error, 5),
          number(rms_error(table), 4),
          number(table.smoothed_bias, 4),
          number(table.lower_bound, 5),
          number(table.relative_gap, 2)};
}

/// One sentence for all problems that failed for the same reason.
std::string failure_note(const std::string& reason, const std::vector<const Result*>& failed) {
  NameList names;
  for (const Result* result : failed) {
    names.add(function_name(result->problem.function) + " (" + variant_name(result->problem) + ")");
  }
  std::string list;
  for (const auto& name : names.all()) list += (list.empty() ? "" : ", ") + name;
  return fmt::format("No table for {}: {}.", list, reason);
}

Section table_section(const std::vector<Result>& results) {
  Section section;
  section.id = "tables";
  section.title = "All tables";
  section.notes = {
      "Smoothed bias: root mean square of q - f' after smoothing by each unit's own scatter; "
      "training "
      "follows it more closely than the squared error. For a smoothed table the lower bound is the "
      "proven squared optimum, so its gap is the price of less bias."};
  section.grid.columns = {{"function"},
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
                          {"relative gap", true}};
  std::map<std::string, std::vector<const Result*>> failures;
  for (const auto& result : results) {
    if (!result.table) {
      failures[result.failure].push_back(&result);
      continue;
    }
    const Table& table = *result.table;
    section.grid.rows.push_back(table_row(table));
    section.figures.push_back(
        {fmt::format("{}, {}", function_name(result.problem.function), size_name(table)),
         fmt::format("{}: error {}, bias {}", variant_name(result.problem),
                     short_number(table.error), short_number(table.smoothed_bias, 2)),
         table_thumbnail(table)});
  }
  for (const auto& [reason, problems] : failures)
    section.notes.push_back(failure_note(reason, problems));
  return section;
}

}  // namespace

std::vector<Section> error_sections(const std::vector<Result>& results) {
  const Index index(results);
  return {digest_section(index), gap_section(index), table_section(results)};
}

}  // namespace reporting
}  // namespace fewbit::solver
