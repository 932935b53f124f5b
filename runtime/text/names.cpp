#include "text/names.hpp"

#include <string_view>

namespace fewbit::session {

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  return text + "]";
}

std::string short_name(std::string node) {
  for (const std::string_view noise : {"torch::autograd::CppNode<", "(anonymous namespace)::"}) {
    const auto place = node.find(noise);
    if (place == std::string::npos) continue;
    node.erase(place, noise.size());
    if (noise.ends_with('<') && node.ends_with('>')) node.pop_back();
  }
  return node;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  }
  return text;
}

}  // namespace fewbit::session
