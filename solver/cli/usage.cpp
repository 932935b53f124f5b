#include "cli/usage.hpp"

#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "cli/program_model.hpp"

namespace fewbit::solver {

namespace {

/// The command that the line is about: the program itself where none is named.
const CLI::App& command_of(const CLI::App& app) {
  const auto named = app.get_subcommands();
  return named.empty() ? app : *named.front();
}

std::string unknown_option(const CommandModel& command, const std::string& seen) {
  std::vector<std::string> names;
  for (const auto& option : command.options) {
    if (!option.positional) names.insert(names.end(), option.names.begin(), option.names.end());
  }
  const std::string word = seen.substr(0, seen.find('='));
  const auto nearest = nearest_names(word, names);
  std::string message = fmt::format("unknown option '{}'", word);
  if (!nearest.empty()) message += fmt::format("; nearest: {}", fmt::join(nearest, ", "));
  return message;
}

/// A word that no option takes.
std::string unexpected(const std::vector<CommandModel>& program, const CommandModel& command,
                       const std::string& seen) {
  if (seen.starts_with('-')) return unknown_option(command, seen);
  if (!command.name.empty()) return fmt::format("'{}' is one word too many", seen);
  std::vector<std::string> names;
  for (size_t i = 1; i < program.size(); ++i) names.push_back(program[i].name);
  return fmt::format("unknown command '{}'; accepted: {}", seen, fmt::join(names, ", "));
}

/// CLI11's own words, of which those about the number of values are no sentences.
std::string message_of(const CLI::ParseError& error) {
  std::string text = error.what();
  text = text.substr(0, text.find('\n'));  // an error is one line
  const std::string option = text.substr(0, text.find(':'));
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) == nullptr) return text;
  // "json was given a disallowed flag override"
  if (text.find("flag override") != std::string::npos) {
    const std::string name = text.substr(0, text.find(' '));
    return (name.size() > 1 ? "--" : "-") + name + ": takes no value";
  }
  return option + (text.ends_with("missing") ? ": no value given, expected one"
                                             : ": given more than once, accepted once");
}

}  // namespace

std::string usage_message(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& named = command_of(app);
  const auto program = program_model(app);
  const std::string name = &named == &app ? "" : named.get_name();
  const auto rest = app.remaining(true);
  std::string message = message_of(error);
  for (const auto& command : program) {
    const bool extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
    if (command.name == name && extra && !rest.empty()) {
      message = unexpected(program, command, rest.front());
    }
  }
  const std::string place = name.empty() ? "" : name + ": ";
  return fmt::format("{}{} (see fewbit-solve {}{}--help)", place, message, name,
                     name.empty() ? "" : " ");
}

}  // namespace fewbit::solver
