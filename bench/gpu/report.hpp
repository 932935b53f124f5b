#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fewbit::bench {

/// One measurement. Seconds are medians of a call, `copy` of a device copy of the same bytes.
struct Row {
  std::string function;
  std::string type;
  std::string table;
  int bits;
  std::string pass;
  int64_t count;
  int64_t bytes;  ///< read and written
  double seconds;
  double copy;

  double percent() const { return 100.0 * copy / seconds; }
};

/// What the rows were measured on.
struct Setting {
  std::string device;
  std::string driver;
  std::string toolkit;
  std::string commit;
  std::string date;
};

/// As JSON: the setting and an array of rows, times in seconds.
std::string json_text(const Setting& setting, const std::vector<Row>& rows);

/// As Markdown: percent of a copy, by function, type and bits for the largest count, and by count.
std::string markdown_text(const Setting& setting, const std::vector<Row>& rows);

}  // namespace fewbit::bench
