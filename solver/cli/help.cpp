#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/command.hpp"
#include "cli/help_topics.hpp"
#include "cli/output.hpp"

namespace fewbit::solver {

Subcommand add_help(CLI::App& app) {
  const auto topic = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("help", "Explain a topic or a command");
  command->add_option("TOPIC", *topic, "A topic or the name of a command")->type_name("");
  command->footer("Topics:\n" + topic_list() + R"(
Examples:
  fewbit-solve help results
  fewbit-solve help verify)");
  return {command, [topic, command, &app] {
            print(topic->empty() ? command->help(app.get_name()) : help_on(app, *topic));
            return 0;
          }};
}

}  // namespace fewbit::solver
