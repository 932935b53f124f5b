#include "examples/support/page.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>

namespace fewbit::examples {

namespace {

constexpr const char* kStyle =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;"
    "color:#222}table{border-collapse:collapse;margin:1em 0}td,th{padding:.2em .7em;"
    "border-bottom:1px solid #ddd;text-align:right}td:first-child,th:first-child{text-align:left}"
    "svg{max-width:100%;height:auto}";

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '<') {
      result += "&lt;";
    } else if (c == '&') {
      result += "&amp;";
    } else {
      result += c;
    }
  }
  return result;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result + '"';
}

// A decimal stays one; JSON knows no sign "+" and no infinity.
std::string json_value(const std::string& cell) {
  const bool decimal =
      !cell.empty() && cell.find_first_not_of("0123456789.eE+-") == std::string::npos;
  char* end = nullptr;
  if (decimal && cell[0] != '+') std::strtod(cell.c_str(), &end);
  return end == cell.c_str() + cell.size() ? cell : quoted(cell);
}

std::string joined(const std::vector<std::string>& parts, const char* between) {
  std::string result;
  for (const std::string& part : parts) result += (result.empty() ? "" : between) + part;
  return result;
}

std::string html(const Sheet& sheet) {
  std::string result = "<h2>" + escaped(sheet.title) + "</h2>\n<table>\n<tr>";
  for (const std::string& column : sheet.columns) result += "<th>" + escaped(column) + "</th>";
  for (const auto& row : sheet.rows) {
    result += "</tr>\n<tr>";
    for (const std::string& cell : row) result += "<td>" + escaped(cell) + "</td>";
  }
  return result + "</tr>\n</table>\n";
}

std::string json(const Sheet& sheet) {
  std::vector<std::string> rows;
  for (const auto& row : sheet.rows) {
    std::vector<std::string> cells;
    for (size_t i = 0; i < row.size(); ++i) {
      cells.push_back(quoted(sheet.columns[i]) + ": " + json_value(row[i]));
    }
    rows.push_back("      {" + joined(cells, ", ") + "}");
  }
  return "    {\"title\": " + quoted(sheet.title) + ", \"rows\": [\n" + joined(rows, ",\n") +
         "\n    ]}";
}

std::string json(const Chart& chart) {
  std::vector<std::string> lines;
  for (const Line& line : chart.lines) {
    std::vector<std::string> points;
    for (const auto& [x, y] : line.points) {
      points.push_back("[" + number(x, 6) + ", " + number(y, 6) + "]");
    }
    lines.push_back("      {\"name\": " + quoted(line.name) + ", \"points\": [" +
                    joined(points, ", ") + "]}");
  }
  return "    {\"title\": " + quoted(chart.title) + ", \"lines\": [\n" + joined(lines, ",\n") +
         "\n    ]}";
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  TORCH_CHECK(file, "cannot write ", path.string());
}

}  // namespace

std::string number(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

std::string markdown(const Sheet& sheet) {
  std::ostringstream out;
  out << "## " << sheet.title << "\n\n| " << joined(sheet.columns, " | ") << " |\n|";
  for (size_t i = 0; i < sheet.columns.size(); ++i) out << (i == 0 ? "---|" : "---:|");
  for (const auto& row : sheet.rows) out << "\n| " << joined(row, " | ") << " |";
  out << "\n\n";
  return out.str();
}

void Page::add(const std::string& paragraph) {
  html_ += "<p>" + escaped(paragraph) + "</p>\n";
  markdown_ += paragraph + "\n\n";
}

void Page::add(const Sheet& sheet) {
  html_ += html(sheet);
  markdown_ += markdown(sheet);
  json_.push_back(json(sheet));
}

void Page::add(const Chart& chart) {
  html_ += svg(chart);
  json_.push_back(json(chart));
}

void Page::write(const std::string& folder, const std::string& name) const {
  std::filesystem::create_directories(folder);
  const std::filesystem::path base = std::filesystem::path(folder) / name;
  write_file(base.string() + ".html",
             "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>" +
                 escaped(title_) + "</title>\n<style>" + kStyle +
                 "</style>\n</head>\n<body>\n<h1>" + escaped(title_) + "</h1>\n" + html_ +
                 "</body>\n</html>\n");
  write_file(base.string() + ".md", "# " + title_ + "\n\n" + markdown_);
  write_file(base.string() + ".json", "{\n  \"title\": " + quoted(title_) + ",\n  \"parts\": [\n" +
                                          joined(json_, ",\n") + "\n  ]\n}\n");
}

void Outcome::expect(bool holds, const std::string& statement) {
  std::cout << (holds ? "holds: " : "FAILS: ") << statement << std::endl;
  failed_ = failed_ || !holds;
}

Arguments parse_arguments(int count, char** values) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string value = values[i];
    if (value == "--long") {
      arguments.is_long = true;
    } else if (value == "--out" && i + 1 < count) {
      arguments.folder = values[++i];
    } else {
      TORCH_CHECK(false, "unknown argument '", value, "': [--long] [--out FOLDER]");
    }
  }
  return arguments;
}

int run_example(int count, char** values, int (*example)(const Arguments&)) {
  at::set_num_threads(1);
  try {
    return example(parse_arguments(count, values));
  } catch (const c10::Error& error) {
    std::cerr << "error: " << error.what_without_backtrace() << '\n';
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
  }
  return 1;
}

}  // namespace fewbit::examples
