#include "report/document.hpp"

namespace fewbit::solver {
inline namespace reporting {

namespace {

std::string escape(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '|') safe += '\\';
    safe += c;
  }
  return safe;
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
    names.push_back(column.name);
    rule += column.numeric ? "---:|" : "---|";
  }
  std::string text = row_of(names) + rule + "\n";
  for (const auto& row : grid.rows) {
    std::vector<std::string> cells;
    for (const auto& cell : row) cells.push_back(cell.text);
    text += row_of(cells);
  }
  return text;
}

}  // namespace

std::string to_markdown(const Document& document) {
  std::string text = "# " + document.title + "\n\n" + document.summary + "\n";
  for (const auto& section : document.sections) {
    if (section.grid.rows.empty() && section.notes.empty()) continue;
    text += "\n## " + section.title + "\n";
    for (const auto& note : section.notes) text += "\n" + note + "\n";
    if (!section.grid.rows.empty()) text += "\n" + grid_of(section.grid);
  }
  return text;
}

}  // namespace reporting
}  // namespace fewbit::solver
