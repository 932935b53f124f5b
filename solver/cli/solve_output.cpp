#include "cli/solve_output.hpp"

#include <algorithm>
#include <bit>
#include <set>

#include <fmt/format.h>

#include "base/error.hpp"
#include "cli/output.hpp"
#include "report/describe.hpp"
#include "report/names.hpp"
#include "report/table_svg.hpp"
#include "table/json.hpp"

namespace fewbit::solver {

namespace {

std::string replaced(std::string text, const std::string& what, int by) {
  const std::string value = std::to_string(by);
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + value.size())) {
    text.replace(at, what.size(), value);
  }
  return text;
}

/// `path` for a table of at most so many levels.
std::string place_of(const std::string& path, int levels) {
  const int bits = std::bit_width(static_cast<unsigned>(levels - 1));
  return replaced(replaced(path, "{bits}", bits), "{levels}", levels);
}

/// `path` with a placeholder before its ending: "gelu_{bits}.json".
std::string with_placeholder(const std::string& path, const std::vector<int>& levels) {
  const auto whole_bits = [](int count) {
    return std::has_single_bit(static_cast<unsigned>(count));
  };
  const bool bits = std::all_of(levels.begin(), levels.end(), whole_bits);
  const size_t slash = path.rfind('/');
  const size_t dot = path.rfind('.');
  const bool ending = dot != path.npos && (slash == path.npos || dot > slash + 1) && dot > 0;
  const size_t place = ending ? dot : path.size();
  return path.substr(0, place) + (bits ? "_{bits}" : "_{levels}") + path.substr(place);
}

void check_places(const std::string& option, const std::string& path,
                  const std::vector<int>& levels, std::set<std::string>& taken) {
  if (path.empty()) return;
  for (const int count : levels) {
    const std::string place = place_of(path, count);
    if (taken.insert(place).second) continue;
    if (levels.size() == 1) {
      throw UsageError(fmt::format("{}: '{}' is what another output is written to", option, place));
    }
    throw UsageError(fmt::format(
        "{}: '{}' is one place for several tables; expected a name with {{bits}} or {{levels}} "
        "that tells them apart, such as {}",
        option, place, with_placeholder(path == "-" ? "table" : path, levels)));
  }
  for (const int count : levels) check_output(place_of(path, count));
}

/// Nothing else is on standard output: neither JSON nor a picture.
bool prints_text(const SolveOutput& output) {
  return !output.json && output.table != "-" && output.picture != "-";
}

std::string json_of(const std::vector<Solved>& solved, bool list) {
  if (!list) return to_json(solved.front().table);
  std::string text;
  for (const Solved& each : solved) {
    const std::string one = to_json(each.table);
    text += (text.empty() ? "[\n" : ",\n") + one.substr(0, one.size() - 1);
  }
  return text + "\n]\n";
}

std::string text_of(const std::vector<Solved>& solved) {
  std::string text;
  std::vector<Table> tables;
  for (const Solved& each : solved) {
    text += (text.empty() ? "" : "\n\n") +
            describe(each.table, wants_colour(), output_width(), each.samples);
    tables.push_back(each.table);
  }
  return tables.size() == 1 ? text : text + "\n\nall sizes\n" + compare(tables);
}

std::string note_of(const std::string& place, const Solved& solved) {
  const Table& table = solved.table;
  std::string note =
      fmt::format("{}: {}, {}, error {}, {}", place, function_name(table.problem.function),
                  size_name(table), short_number(table.error), gap_name(table));
  if (solved.samples) note += ", on the samples " + short_number(solved.samples->error);
  return note + "\n";
}

}  // namespace

void check_solve_output(const SolveOutput& output, const std::vector<int>& levels) {
  const bool json = output.json && output.table.empty();
  if (output.picture == "-" && (json || output.table == "-")) {
    throw UsageError(std::string("--svg -: standard output is taken by ") +
                     (json ? "--json" : "-o -") + "; write one of the two to a file");
  }
  for (const int count : levels) {
    check_not_input("-o", place_of(output.table, count), output.inputs);
    check_not_input("--svg", place_of(output.picture, count), output.inputs);
  }
  std::set<std::string> taken;
  // On standard output several tables are one array; several pictures would be no picture.
  if (output.table != "-") check_places("-o", output.table, levels, taken);
  check_places("--svg", output.picture, levels, taken);
}

void write_solved(const SolveOutput& output, const std::vector<Solved>& solved) {
  const bool file = !is_standard_output(output.table);
  for (const auto& [table, samples] : solved) {
    const int levels = table.problem.levels;
    if (!output.picture.empty()) {
      write_output(place_of(output.picture, levels), table_picture(table));
    }
    if (!file) continue;
    const std::string place = place_of(output.table, levels);
    write_output(place, to_json(table));
    if (prints_text(output) && !is_quiet()) print(note_of(place, {table, samples}));
  }
  if (file) return;
  if (output.json || output.table == "-") {
    print(json_of(solved, output.list));
  } else if (prints_text(output)) {
    print(text_of(solved));
  }
}

}  // namespace fewbit::solver
