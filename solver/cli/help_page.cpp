#include "cli/help_page.hpp"

#include <algorithm>

namespace fewbit::solver {

namespace {

std::string without_quotes(std::string text) {
  std::erase(text, '`');
  return text;
}

std::string text_of_note(const std::string& note) {
  if (!note.starts_with("```")) return without_quotes(note) + "\n";
  std::string text;
  for (size_t begin = note.find('\n') + 1; begin < note.size();) {
    const size_t end = std::min(note.find('\n', begin), note.size());
    const std::string line = note.substr(begin, end - begin);
    if (line != "```") text += "  " + line + "\n";
    begin = end + 1;
  }
  return text;
}

/// A row below the other: the first cell, then what the columns are called.
std::string text_of_grid(const Grid& grid) {
  std::string text;
  for (const auto& row : grid.rows) {
    text += "\n  " + without_quotes(row[0].text) + "\n";
    for (size_t i = 1; i < row.size(); ++i) {
      if (row[i].text.empty()) continue;
      text += "      " + grid.columns[i].name + ": " + without_quotes(row[i].text) + "\n";
    }
  }
  return text;
}

}  // namespace

std::string to_terminal(const Document& page) {
  std::string text = page.title + "\n\n" + without_quotes(page.summary) + "\n";
  for (const Section& section : page.sections) {
    text += "\n" + section.title + "\n" + std::string(section.title.size(), '-') + "\n";
    for (size_t i = 0; i < section.notes.size(); ++i) {
      text += (i == 0 ? "" : "\n") + text_of_note(section.notes[i]);
    }
    text += text_of_grid(section.grid);
  }
  return text;
}

}  // namespace fewbit::solver
