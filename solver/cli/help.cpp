#include <memory>

#include <CLI/CLI.hpp>

#include "base/error.hpp"
#include "cli/command.hpp"
#include "cli/help_page.hpp"
#include "cli/output.hpp"

namespace fewbit::solver {

namespace {

struct Topic {
  const char* name;
  Document (*page)();
};

constexpr Topic kTopics[] = {{"expressions", expressions_page}};

struct Options {
  std::string topic;
  bool markdown = false;
};

const Topic* find_topic(const std::string& name) {
  for (const Topic& topic : kTopics) {
    if (topic.name == name) return &topic;
  }
  return nullptr;
}

/// The help of the program, or of a command of it.
std::string command_help(const CLI::App& app, const std::string& name) {
  // App::help would be that of the command which runs, of this one.
  const auto help = [&](const CLI::App& of, const std::string& called) {
    return app.get_formatter()->make_help(&of, called, CLI::AppFormatMode::Normal);
  };
  if (name.empty()) return help(app, app.get_name());
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    if (command->get_name() == name) return help(*command, app.get_name() + " " + name);
  }
  std::string known;
  for (const Topic& topic : kTopics) known += std::string(topic.name) + ", ";
  throw UsageError("no help on '" + name + "' (there is some on " + known +
                   "and on every command)");
}

int run(const CLI::App& app, const Options& options) {
  const Topic* topic = find_topic(options.topic);
  if (options.markdown && topic == nullptr) {
    throw UsageError("--markdown is for a topic: fewbit-solve help expressions --markdown");
  }
  if (topic == nullptr) {
    print(command_help(app, options.topic));
  } else {
    print(options.markdown ? to_markdown(topic->page()) : to_terminal(topic->page()));
  }
  return 0;
}

}  // namespace

Subcommand add_help(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("help", "Explain a topic (expressions) or a command");
  command->add_option("topic", options->topic, "A topic, or the name of a command")
      ->option_text("TOPIC");
  command->add_flag("--markdown", options->markdown, "The page as docs/ has it");
  command->footer(R"(Examples:
  fewbit-solve help expressions
  fewbit-solve help emit)");
  return {command, [&app, options] { return run(app, *options); }};
}

bool print_topic(const std::string& name) {
  const Topic* topic = find_topic(name);
  if (topic != nullptr) print(to_terminal(topic->page()));
  return topic != nullptr;
}

}  // namespace fewbit::solver
