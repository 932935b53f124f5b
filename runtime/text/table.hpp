#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace fewbit::session {

/// A table for a person: columns as wide as their widest cell, two blanks between them.
class TextTable {
 public:
  enum class Side { left, right };
  struct Column {
    std::string title;
    Side side = Side::left;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// A row; after fewer cells than columns a note may take the rest of the line.
  void add(std::vector<std::string> cells, std::string note = "") {
    rows_.push_back({std::move(cells), std::move(note)});
  }

  /// The titles and all rows, a line each.
  std::string text() const;

 private:
  struct Row {
    std::vector<std::string> cells;
    std::string note;
  };

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

/// 1234567 as "1,234,567".
std::string grouped(std::int64_t value);

/// Three digits: "0.0123".
std::string rounded(double value);

}  // namespace fewbit::session
