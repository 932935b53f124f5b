#include "codegen/templates.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace fewbit::codegen {

namespace {

constexpr std::string_view kMarker = "//@ ";
constexpr std::string_view kPythonMarker = "#@ ";
constexpr std::string_view kKeyLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";

struct Section {
  std::string name;
  std::vector<std::string> needs;
  std::string text;
};

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

/// The files that math.hpp includes, in that order.
std::vector<std::string> math_files() {
  constexpr std::string_view kInclude = "#include \"codegen/templates/";
  std::vector<std::string> files;
  std::istringstream in{std::string(template_text("math.hpp"))};
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(kInclude)) continue;
    files.push_back(line.substr(kInclude.size(), line.size() - kInclude.size() - 1));
  }
  return files;
}

void add_sections(const std::string& file, std::string_view marker,
                  std::vector<Section>& sections) {
  std::istringstream in{std::string(template_text(file))};
  bool is_inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(marker)) {
      std::vector<std::string> words = words_of(line.substr(marker.size()));
      sections.push_back({words[0], {words.begin() + 1, words.end()}, {}});
      is_inside = true;
    } else if (is_inside && !line.starts_with("}  // namespace fewbit")) {
      sections.back().text += line + "\n";
    }
  }
}

std::vector<Section> sections_of_math() {
  std::vector<Section> sections;
  for (const std::string& file : math_files()) add_sections(file, kMarker, sections);
  return sections;
}

std::vector<Section> sections_of_python() {
  std::vector<Section> sections;
  add_sections("math.py.in", kPythonMarker, sections);
  return sections;
}

/// Those of `sections` that `wanted` names, and what they need. A section only needs earlier ones,
/// so one pass from the end closes the set.
std::string wanted_sections(const std::vector<Section>& sections, std::set<std::string> wanted) {
  for (auto section = sections.rbegin(); section != sections.rend(); ++section) {
    if (wanted.contains(section->name)) wanted.insert(section->needs.begin(), section->needs.end());
  }
  std::string text;
  for (const Section& section : sections) {
    if (wanted.contains(section.name)) text += section.text;
  }
  return text;
}

std::string fill(std::string_view text, const Values& values) {
  std::string result;
  size_t done = 0;
  for (size_t start = text.find('@'); start != std::string_view::npos;
       start = text.find('@', start + 1)) {
    const size_t end = text.find_first_not_of(kKeyLetters, start + 1);
    if (end == std::string_view::npos || end == start + 1 || text[end] != '@') continue;
    const std::string key(text.substr(start + 1, end - start - 1));
    const auto value = values.find(key);
    if (value == values.end()) throw std::logic_error("template key without value: " + key);
    result += text.substr(done, start - done);
    result += value->second;
    start = end;
    done = end + 1;
  }
  return result += text.substr(done);
}

}  // namespace

std::string render(std::string_view name, const Values& values) {
  return fill(template_text(name), values);
}

std::string math_sections(const std::set<std::string>& primitives) {
  return wanted_sections(sections_of_math(), primitives);
}

bool has_python_section(std::string_view name) {
  const std::vector<Section> sections = sections_of_python();
  return std::any_of(sections.begin(), sections.end(),
                     [name](const Section& section) { return section.name == name; });
}

std::string python_sections(const std::set<std::string>& primitives, const Values& values) {
  return fill(wanted_sections(sections_of_python(), primitives), values);
}

std::string math_header() {
  const std::string basic(template_text(math_files().front()));
  std::string text;
  std::istringstream head(basic.substr(0, basic.find(kMarker)));
  for (std::string line; std::getline(head, line);) {
    if (!line.starts_with("//@")) text += line + "\n";
  }
  for (const Section& section : sections_of_math()) text += section.text;
  return text + "}  // namespace fewbit::generated::math\n";
}

}  // namespace fewbit::codegen
