#include <algorithm>
#include <regex>
#include <sstream>
#include <vector>

#include "tests/cli/program.hpp"

namespace fewbit::report_formats_test {

using ReportFormats = Program;
using testing::AllOf;
using testing::HasSubstr;

using Row = std::vector<std::string>;

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? ""
                                    : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

/// Cells of a CSV line; quoted ones hold no quotes here.
Row csv_row(const std::string& line) {
  Row cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

std::vector<Row> csv_rows(const std::string& text) {
  std::vector<Row> rows;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with('#')) rows.push_back(csv_row(line));
  }
  return rows;
}

std::vector<Row> markdown_rows(const std::string& text) {
  std::vector<Row> rows;
  std::istringstream in(text.substr(text.find("| function | form |")));
  for (std::string line; std::getline(in, line) && line.starts_with('|');) {
    Row row;
    std::istringstream cells(line.substr(1));
    for (std::string cell; std::getline(cells, cell, '|');) row.push_back(trimmed(cell));
    rows.push_back(row);
  }
  rows.erase(rows.begin() + 1);  // the rule below the names
  return rows;
}

std::vector<Row> html_rows(const std::string& page) {
  static const std::regex row("<tr>(.*)</tr>");
  static const std::regex cell("<t[hd][^>]*>([^<]*)</t[hd]>");
  const size_t begin = page.find("<section id=\"tables\">");
  const std::string grid = page.substr(begin, page.find("</table>", begin) - begin);
  std::vector<Row> rows;
  for (std::sregex_iterator it(grid.begin(), grid.end(), row), end; it != end; ++it) {
    const std::string cells = (*it)[1];
    rows.emplace_back();
    for (std::sregex_iterator at(cells.begin(), cells.end(), cell); at != end; ++at) {
      rows.back().push_back((*at)[1]);
    }
  }
  return rows;
}

/// As people's cells show it: so many significant digits.
std::string shown(const std::string& exact, int digits) {
  std::ostringstream out;
  out.precision(digits);
  out << std::stod(exact);
  return out.str();
}

size_t column_of(const Row& names, const std::string& name) {
  return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

TEST_F(ReportFormats, CarryTheSameFigures) {
  const std::string command =
      "report --fn gelu,relu,tanh --bits 1-3 --form levels,unbiased --weight normal:0,1 --format ";
  const auto csv = csv_rows(run(command + "csv").out);
  const auto markdown = markdown_rows(run(command + "md").out);
  const auto html = html_rows(run(command + "html").out);
  EXPECT_EQ(markdown, html);
  // Two curved functions, three sizes, two forms, and the exact one.
  ASSERT_EQ(csv.size(), 1U + 12U + 1U);
  ASSERT_EQ(markdown.size(), csv.size());
  const std::vector<std::pair<const char*, int>> figures{{"squared error", 5},
                                                         {"rms error", 4},
                                                         {"smoothed bias", 4},
                                                         {"lower bound", 5},
                                                         {"relative gap", 2}};
  for (size_t i = 1; i < csv.size(); ++i) {
    for (const char* name : {"function", "form", "weight", "domain", "bits", "levels"}) {
      EXPECT_EQ(markdown[i][column_of(markdown[0], name)], csv[i][column_of(csv[0], name)]);
    }
    for (const auto& [name, digits] : figures) {
      EXPECT_EQ(markdown[i][column_of(markdown[0], name)],
                shown(csv[i][column_of(csv[0], name)], digits))
          << name;
    }
  }
}

TEST_F(ReportFormats, CarryLevelsAndThresholdsInFull) {
  const std::string command = "report --fn gelu --bits 2 --format ";
  const auto csv = csv_rows(run(command + "csv").out);
  std::istringstream levels(csv[1][column_of(csv[0], "level values")]);
  std::istringstream thresholds(csv[1][column_of(csv[0], "threshold values")]);
  const std::string markdown = run(command + "md").out;
  const std::string html = run(command + "html").out;
  size_t code = 0;
  for (std::string level; levels >> level; ++code) {
    std::string end = "inf";
    thresholds >> end;
    if (!thresholds) end = "inf";
    const std::string number = std::to_string(code);
    EXPECT_THAT(markdown, HasSubstr("\n| " + end + " | " + number + " | " + level + " |\n"));
    EXPECT_THAT(html, HasSubstr("<th scope=\"row\" class=\"n\">" + end + "</th><td class=\"n\">" +
                                number + "</td><td class=\"n\">" + level + "</td>"));
  }
  EXPECT_EQ(code, 4U);
}

TEST_F(ReportFormats, SayWhereTheyComeFrom) {
  for (const char* format : {"csv", "md", "html"}) {
    const std::string command = std::string("report --fn gelu --bits 2 --format ") + format;
    EXPECT_THAT(run(command).out, AllOf(HasSubstr("fewbit-solve " + command), HasSubstr("version"),
                                        HasSubstr("1 solved, found by fewbit ")));
  }
}

TEST_F(ReportFormats, AreChosenByTheEndingOfTheFileAlone) {
  ASSERT_EQ(run("report --fn gelu --bits 2 -o ./errors").code, 0);
  EXPECT_THAT(read("errors"), testing::StartsWith("# Few-bit"));
  EXPECT_THAT(run("report --fn gelu --bits 2 -o -").out, testing::StartsWith("# Few-bit"));
}

TEST_F(ReportFormats, SortFunctionsAsAsked) {
  const auto first = [&](const std::string& order) {
    return csv_rows(run("report --fn silu,gelu --bits 1 --format csv " + order).out)[1][0];
  };
  EXPECT_EQ(first(""), "silu(beta=1)");
  EXPECT_EQ(first("--sort name"), "gelu");
  EXPECT_EQ(first("--sort given"), "silu(beta=1)");
  expect_refused("report --sort size", 2,
                 "--sort: 'size' is not accepted; expected error, bias, gap, name or given");
}

TEST_F(ReportFormats, AreRefusedBeforeTheWorkWhereTheyCannotBeWritten) {
  expect_refused("report --bits 8 -o no/such/folder/page.html", 1, "no/such/folder/page.html");
  EXPECT_FALSE(exists("no"));
  EXPECT_EQ(run("report --fn gelu --bits 2 -o .").code, 1);
}

}  // namespace fewbit::report_formats_test
