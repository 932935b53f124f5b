#include <algorithm>

#include <fmt/format.h>

#include "report/document.hpp"
#include "report/svg.hpp"

namespace fewbit::solver {

namespace {

std::string escape(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '|') safe += '\\';
    safe += c;
  }
  return safe;
}

/// A code span whose fence is longer than any run of backticks in it.
std::string code_of(const std::string& text) {
  size_t longest = 0;
  size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  const std::string room = longest > 0 ? " " : "";
  return fence + room + text + room + fence;
}

std::string row_of(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const auto& cell : cells) line += " " + escape(cell) + " |";
  return line + "\n";
}

std::string grid_of(const Grid& grid) {
  std::vector<std::string> names;
  std::string rule = "|";
  for (const auto& column : grid.columns) {
    if (column.only_csv) continue;
    names.push_back(column.name);
    rule += column.numeric ? "---:|" : "---|";
  }
  std::string text = row_of(names) + rule + "\n";
  for (const auto& row : grid.rows) {
    std::vector<std::string> cells;
    for (size_t i = 0; i < row.size(); ++i) {
      if (grid.columns[i].only_csv) continue;
      cells.push_back(grid.columns[i].code ? code_of(row[i].text) : row[i].text);
    }
    text += row_of(cells);
  }
  return text;
}

std::string details_of(const Figure& figure) {
  return fmt::format("\n<details><summary>{}: {}</summary>\n\n{}\n</details>\n",
                     escape_xml(figure.title), escape_xml(figure.caption), grid_of(figure.details));
}

std::string markdown_of(const Section& section) {
  std::string text = "\n## " + section.title + "\n";
  for (const auto& note : section.notes) text += "\n" + note + "\n";
  if (!section.grid.rows.empty()) text += "\n" + grid_of(section.grid);
  for (const auto& figure : section.figures) {
    if (!figure.details.rows.empty()) text += details_of(figure);
  }
  return text;
}

}  // namespace

std::string to_markdown(const Document& document) {
  std::string text = "# " + document.title + "\n\n" + document.summary + "\n";
  for (const auto& section : document.sections) {
    if (!section.grid.rows.empty() || !section.notes.empty()) text += markdown_of(section);
  }
  if (document.provenance.empty()) return text;
  text += "\n## Provenance\n\n";
  for (const auto& [what, line] : document.provenance) {
    text += "- " + what + ": " + code_of(line) + "\n";
  }
  return text;
}

}  // namespace fewbit::solver
