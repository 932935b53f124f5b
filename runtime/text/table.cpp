#include "text/table.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace fewbit::session {

std::string TextTable::text() const {
  std::vector<std::string> titles;
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) {
    titles.push_back(column.title);
    widths.push_back(column.title.size());
  }
  for (const Row& row : rows_) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      widths[i] = std::max(widths[i], row.cells[i].size());
    }
  }
  std::string text;
  const auto print = [&](const std::vector<std::string>& cells, const std::string& note) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::size_t blanks = widths[i] - cells[i].size();
      if (i > 0) line.append(2, ' ');
      if (columns_[i].side == Side::right) line.append(blanks, ' ');
      line += cells[i];
      if (columns_[i].side == Side::left) line.append(blanks, ' ');
    }
    if (!note.empty()) line += "  " + note;
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  print(titles, "");
  for (const Row& row : rows_) print(row.cells, row.note);
  return text;
}

std::string grouped(std::int64_t value) {
  std::string digits = std::to_string(value);
  for (auto place = static_cast<std::ptrdiff_t>(digits.size()) - 3; place > 0; place -= 3) {
    digits.insert(static_cast<std::size_t>(place), 1, ',');
  }
  return digits;
}

std::string rounded(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g", value);
  return text.data();
}

}  // namespace fewbit::session
