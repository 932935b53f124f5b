#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "base/error.hpp"
#include "cli/command.hpp"
#include "cli/help_page.hpp"
#include "cli/help_topics.hpp"
#include "cli/output.hpp"

namespace fewbit::solver {

namespace {

struct HelpArguments {
  std::string topic;
  bool markdown = false;
};

int run_help(const CLI::App& app, const CLI::App& command, const HelpArguments& options) {
  if (options.markdown && options.topic != "expressions") {
    throw UsageError("--markdown is for one page: fewbit-solve help expressions --markdown");
  }
  if (options.markdown) {
    print(to_markdown(expressions_page()));
  } else {
    print(options.topic.empty() ? command.help(app.get_name()) : help_on(app, options.topic));
  }
  return 0;
}

}  // namespace

Subcommand add_help(CLI::App& app) {
  const auto options = std::make_shared<HelpArguments>();
  CLI::App* command = app.add_subcommand("help", "Explain a topic or a command");
  command->add_option("TOPIC", options->topic, "A topic or the name of a command")->type_name("");
  command->add_flag("--markdown", options->markdown, "The page on expressions as docs/ has it");
  command->footer("Topics:\n" + topic_list() + R"(
Examples:
  fewbit-solve help expressions
  fewbit-solve help results
  fewbit-solve help verify)");
  return {command, [&app, command, options] { return run_help(app, *command, *options); }};
}

}  // namespace fewbit::solver
