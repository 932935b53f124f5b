#include <fmt/format.h>

#include "report/document.hpp"

namespace fewbit::solver {

namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string safe = "\"";
  for (const char c : text) {
    if (c == '"') safe += '"';
    safe += c;
  }
  return safe + "\"";
}

std::string grid_of(const Grid& grid) {
  std::string text;
  for (size_t i = 0; i < grid.columns.size(); ++i) {
    text += (i > 0 ? "," : "") + quoted(grid.columns[i].name);
  }
  text += '\n';
  for (const auto& row : grid.rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      text += (i > 0 ? "," : "") + quoted(row[i].exact.empty() ? row[i].text : row[i].exact);
    }
    text += '\n';
  }
  return text;
}

}  // namespace

std::string to_csv(const Document& document) {
  std::vector<const Section*> sections;
  for (const auto& section : document.sections) {
    if (section.in_csv && !section.grid.rows.empty()) sections.push_back(&section);
  }
  std::string text;
  for (const auto& [what, line] : document.provenance)
    text += fmt::format("# {}: {}\n", what, line);
  for (const Section* section : sections) {
    if (section != sections.front()) text += '\n';
    if (sections.size() > 1) text += "# " + section->title + "\n";
    text += grid_of(section->grid);
  }
  return text;
}

}  // namespace fewbit::solver
