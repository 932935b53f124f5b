#pragma once

#include <string>
#include <utility>
#include <vector>

/// Results written three times from the same numbers: HTML that needs nothing beside itself,
/// Markdown and JSON.
namespace fewbit::examples {

/// With so many significant digits, as a decimal that is also JSON.
std::string number(double value, int digits = 3);

struct Sheet {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

struct Line {
  std::string name;
  std::vector<std::pair<double, double>> points;
  bool joined = true;  ///< a line; else dots alone
};

struct Chart {
  std::string title;
  std::string x_name;
  std::string y_name;
  std::vector<Line> lines;
  bool logarithmic = false;  ///< both axes; every coordinate has to be positive
};

/// Inline SVG.
std::string svg(const Chart& chart);

std::string markdown(const Sheet& sheet);

class Page {
 public:
  explicit Page(std::string title) : title_(std::move(title)) {}

  void add(const std::string& paragraph);
  void add(const Sheet& sheet);
  /// In the HTML alone; its numbers are in the JSON.
  void add(const Chart& chart);

  /// FOLDER/name.html, .md and .json. Throws c10::Error where that fails.
  void write(const std::string& folder, const std::string& name) const;

 private:
  std::string title_, html_, markdown_;
  std::vector<std::string> json_;
};

/// What an example states about its result: every statement is printed with "holds" or "FAILS".
class Outcome {
 public:
  void expect(bool holds, const std::string& statement);
  /// For main: 0 where all held.
  int exit_code() const { return failed_ ? 1 : 0; }

 private:
  bool failed_ = false;
};

/// Arguments of an example: [--long] [--out FOLDER].
struct Arguments {
  bool is_long = false;
  std::string folder;  ///< for the page; empty: none is written
};

/// Throws c10::Error for anything else.
Arguments parse_arguments(int count, char** values);

/// Runs an example: one thread, what it throws on stderr as exit code 1.
int run_example(int count, char** values, int (*example)(const Arguments&));

}  // namespace fewbit::examples
