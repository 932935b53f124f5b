#include <regex>
#include <vector>

#include "tests/report/support.hpp"

namespace fewbit::solver {

namespace {

const std::regex& tag_pattern() {
  static const std::regex pattern(R"re(<(/?)([a-zA-Z]+)((?:\s[a-zA-Z0-9-]+="[^"<]*")*)\s?(/?)>)re");
  return pattern;
}

/// Text between tags and attribute values may hold & only as the start of an entity.
bool bare_character(const std::string& text) {
  static const std::regex entity("&(amp|lt|gt|quot);");
  const std::string rest = std::regex_replace(text, entity, "");
  return rest.find_first_of("&<>") != std::string::npos;
}

}  // namespace

std::string xml_fault(const std::string& text) {
  std::vector<std::string> open;
  size_t at = 0;
  size_t roots = 0;
  for (std::sregex_iterator it(text.begin(), text.end(), tag_pattern()), end; it != end; ++it) {
    const auto& tag = *it;
    const auto place = static_cast<size_t>(tag.position());
    if (bare_character(text.substr(at, place - at))) return "bare character before " + tag.str();
    at = place + static_cast<size_t>(tag.length());
    if (bare_character(tag[3].str())) return "bare character in " + tag.str();
    if (tag[1].length() > 0) {
      if (open.empty() || open.back() != tag[2].str()) return "unexpected " + tag.str();
      open.pop_back();
    } else if (tag[4].length() == 0) {
      roots += open.empty();
      open.push_back(tag[2].str());
    }
  }
  if (!open.empty()) return "not closed: " + open.back();
  if (roots != 1) return "not one root element";
  return bare_character(text.substr(at)) ? "bare character at the end" : "";
}

}  // namespace fewbit::solver
