#include "codegen/templates.hpp"

#include <sstream>
#include <stdexcept>
#include <vector>

namespace fewbit::codegen {

namespace {

constexpr std::string_view kMarker = "//@ ";

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

std::vector<Section> sections_of_math() {
  std::vector<Section> sections;
  std::istringstream in{std::string(template_text("math.hpp"))};
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(kMarker)) {
      std::vector<std::string> words = words_of(line.substr(kMarker.size()));
      sections.push_back({words[0], {words.begin() + 1, words.end()}, {}});
    } else if (!sections.empty() && !line.starts_with("}  // namespace")) {
      sections.back().text += line + "\n";
    }
  }
  return sections;
}

}  // namespace

std::string render(std::string_view name, const std::map<std::string, std::string>& values) {
  const std::string_view source = template_text(name);
  std::string result;
  size_t done = 0;
  for (size_t start = source.find('@'); start != std::string_view::npos;
       start = source.find('@', done)) {
    const size_t end = source.find('@', start + 1);
    const std::string key(source.substr(start + 1, end - start - 1));
    const auto value = values.find(key);
    if (value == values.end()) throw std::logic_error("template key without value: " + key);
    result += source.substr(done, start - done);
    result += value->second;
    done = end + 1;
  }
  return result += source.substr(done);
}

std::string math_sections(const std::set<std::string>& primitives) {
  const std::vector<Section> sections = sections_of_math();
  std::set<std::string> wanted = primitives;
  // A section only needs earlier ones, so one pass from the end closes the set.
  for (auto section = sections.rbegin(); section != sections.rend(); ++section) {
    if (wanted.contains(section->name)) wanted.insert(section->needs.begin(), section->needs.end());
  }
  std::string text;
  for (const Section& section : sections) {
    if (wanted.contains(section.name)) text += section.text;
  }
  return text;
}

std::string math_header() {
  std::string text;
  std::istringstream in{std::string(template_text("math.hpp"))};
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("//@")) text += line + "\n";
  }
  return text;
}

}  // namespace fewbit::codegen
