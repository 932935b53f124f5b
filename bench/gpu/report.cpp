#include "bench/gpu/report.hpp"

#include <algorithm>
#include <iomanip>
#include <map>
#include <set>
#include <sstream>

namespace fewbit::bench {

namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::string label(int64_t count) {
  int exponent = 0;
  while (int64_t{1} << (exponent + 1) <= count) ++exponent;
  const int64_t rest = count - (int64_t{1} << exponent);
  return "2^" + std::to_string(exponent) + (rest == 0 ? "" : " + " + std::to_string(rest));
}

/// A table of percents: a line for each `name`, a column for each `column`.
using Cells = std::map<std::string, std::map<std::string, double>>;

std::string table_text(const std::string& corner, const std::vector<std::string>& columns,
                       const Cells& cells) {
  std::ostringstream text;
  text << "| " << corner << " |";
  for (const std::string& column : columns) text << ' ' << column << " |";
  text << "\n|---|";
  for (size_t i = 0; i < columns.size(); ++i) text << "---|";
  text << '\n' << std::fixed << std::setprecision(1);
  for (const auto& [name, line] : cells) {
    text << "| " << name << " |";
    for (const std::string& column : columns) {
      const auto cell = line.find(column);
      if (cell == line.end()) {
        text << "  |";
      } else {
        text << ' ' << cell->second << " |";
      }
    }
    text << '\n';
  }
  return text.str();
}

std::string column_of(const Row& row) {
  return row.type + ' ' + std::to_string(row.bits) + (row.table.starts_with("unb") ? "u" : "");
}

/// The columns in the order in which the rows bring them.
template <class Rows, class Column>
std::vector<std::string> columns_of(const Rows& rows, const Column& column) {
  std::vector<std::string> columns;
  for (const Row& row : rows) {
    if (std::ranges::find(columns, column(row)) == columns.end()) columns.push_back(column(row));
  }
  return columns;
}

}  // namespace

std::string json_text(const Setting& setting, const std::vector<Row>& rows) {
  std::ostringstream text;
  text << std::setprecision(6) << "{\n \"device\": " << quoted(setting.device)
       << ",\n \"driver\": " << quoted(setting.driver)
       << ",\n \"toolkit\": " << quoted(setting.toolkit)
       << ",\n \"commit\": " << quoted(setting.commit) << ",\n \"date\": " << quoted(setting.date)
       << ",\n \"rows\": [";
  for (const Row& row : rows) {
    text << (&row == rows.data() ? "\n" : ",\n") << "  {\"function\": " << quoted(row.function)
         << ", \"type\": " << quoted(row.type) << ", \"table\": " << quoted(row.table)
         << ", \"bits\": " << row.bits << ", \"pass\": " << quoted(row.pass)
         << ", \"count\": " << row.count << ", \"bytes\": " << row.bytes
         << ", \"seconds\": " << row.seconds << ", \"copy\": " << row.copy << '}';
  }
  text << "\n ]\n}\n";
  return text.str();
}

std::string markdown_text(const Setting& setting, const std::vector<Row>& rows) {
  std::ostringstream text;
  text << "# Few-bit activations on " << setting.device << "\n\n`scripts/gpu`, " << setting.date
       << ", driver " << setting.driver << ", CUDA " << setting.toolkit << ", commit "
       << setting.commit << ".\n\n"
       << "Percent of a device copy of the same bytes, the faster of cudaMemcpyAsync and a kernel "
          "of 16-byte\nloads and stores: a copy's time over ours, more is better. Caches emptied, "
          "CUDA events, medians.\nu: the unbiased form. A backward pass depends on type and bits "
          "only.\n";
  int64_t largest = 0;
  for (const Row& row : rows) largest = std::max(largest, row.count);
  for (const char* pass : {"forward", "backward"}) {
    std::vector<Row> wide, long_rows;
    Cells by_bits, by_count;
    for (const Row& row : rows) {
      if (row.pass != pass) continue;
      if (row.count == largest) {
        wide.push_back(row);
        by_bits[row.function][column_of(row)] = row.percent();
      }
      if (row.bits != 3 || row.table.starts_with("unb")) continue;
      long_rows.push_back(row);
      by_count[row.function + ' ' + row.type][label(row.count)] = row.percent();
    }
    text << "\n## " << pass << ", " << label(largest) << " elements, by type and bits\n\n"
         << table_text("function", columns_of(wide, column_of), by_bits) << "\n## " << pass
         << ", 3 bits, by number of elements\n\n"
         << table_text("function",
                       columns_of(long_rows, [](const Row& row) { return label(row.count); }),
                       by_count);
  }
  return text.str();
}

}  // namespace fewbit::bench
