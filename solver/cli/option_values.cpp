#include "cli/option_values.hpp"

#include <map>

#include "cli/help_topics.hpp"
#include "cli/parse_options.hpp"
#include "functions/registry.hpp"

namespace fewbit::solver {

namespace {

std::vector<std::string> function_names() {
  std::vector<std::string> names;
  for (const auto& function : registry()) {
    names.push_back(function.name);
    names.insert(names.end(), function.aliases.begin(), function.aliases.end());
  }
  return names;
}

std::vector<std::string> topic_names() {
  std::vector<std::string> names;
  for (const auto& topic : help_topics()) names.push_back(topic.name);
  return names;
}

const std::map<std::string, std::vector<std::string>>& words() {
  static const std::map<std::string, std::vector<std::string>> kWords{
      {"--fn", function_names()},
      {"--bits", {"1", "2", "3", "4", "5", "6", "7", "8"}},
      {"--form", form_names()},
      {"--objective", {"squared", "smoothed"}},
      {"--weight", {"uniform", "normal", "mixture", "laplace", "student-t"}},
      {"--dtype", dtype_names()},
      {"--lang", {"cpp", "cuda", "torch", "triton"}},
      {"--format", {"md", "csv", "html"}},
      {"--sort", {"error", "bias", "gap", "name", "given"}},
      {"--completion", {"bash", "zsh", "fish"}},
      {"TOPIC", topic_names()},
  };
  return kWords;
}

}  // namespace

OptionValues values_of(const OptionModel& option) {
  OptionValues values;
  const std::string& name = option.names.back();
  const auto found = words().find(name);
  if (found != words().end()) values.words = found->second;
  if (name == "--weight") values.before_file = {"histogram:", "samples:"};
  values.files = option.value == "PATH" || option.value == "FILE";
  values.folders = option.value == "FOLDER";
  values.list = option.value == "LIST";
  return values;
}

}  // namespace fewbit::solver
