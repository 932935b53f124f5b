#include "cli/help_topics.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "cli/help_page.hpp"
#include "cli/help_texts.hpp"

namespace fewbit::solver {

std::vector<HelpTopic> help_topics() {
  return {
      {"expressions", "what --expr understands", to_terminal(expressions_page())},
      {"forms", "the three kinds of table, the two objectives, data types", kFormsText},
      {"weights", "how often each input is expected: densities, data files", kWeightsText},
      {"results", "what every printed figure and every key of the JSON means", kResultsText},
      {"files", "what is read and written, and where to", kFilesText},
      {"exit-codes", "0, 1, 2 and what a closed pipe does", kExitCodesText},
  };
}

std::string help_on(const CLI::App& program, const std::string& name) {
  std::vector<std::string> names;
  for (const HelpTopic& topic : help_topics()) {
    if (topic.name == name) return topic.text;
    names.push_back(topic.name);
  }
  for (const CLI::App* command : program.get_subcommands({})) {
    if (command->get_name() == name) return command->help(program.get_name());
    names.push_back(command->get_name());
  }
  throw UsageError(fmt::format("help: '{}' is neither a topic nor a command; accepted: {}", name,
                               fmt::join(names, ", ")));
}

std::string topic_list() {
  std::string text;
  for (const HelpTopic& topic : help_topics()) {
    text += fmt::format("  {:<32}{}\n", topic.name, topic.summary);
  }
  return text;
}

}  // namespace fewbit::solver
