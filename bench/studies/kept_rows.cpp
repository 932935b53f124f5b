#include "bench/studies/kept_rows.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace fewbit::bench {

namespace {

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  for (size_t start = 2, end = 0; (end = line.find(" |", start)) != std::string::npos;
       start = end + 3) {
    cells.push_back(line.substr(start, end - start));
  }
  return cells;
}

}  // namespace

Rows kept_rows(const std::string& page, const std::string& conditions, const std::string& title) {
  std::ifstream file(page);
  Rows rows;
  bool is_same = false, is_there = false;
  for (std::string line; std::getline(file, line);) {
    is_same = is_same || line == conditions;
    if (line.starts_with("## ")) is_there = line == "## " + title;
    const bool is_row = line.starts_with("| ") && !line.starts_with("| network |");
    if (is_same && is_there && is_row) rows.push_back(cells_of(line));
  }
  return rows;
}

void complete(Rows& rows, const std::vector<std::string>& networks,
              const std::function<Rows(const std::string& network)>& measured,
              const std::function<void()>& write) {
  for (const std::string& name : networks) {
    if (std::ranges::any_of(rows, [&](const auto& row) { return row[0] == name; })) continue;
    std::ranges::move(measured(name), std::back_inserter(rows));
    write();
  }
}

}  // namespace fewbit::bench
