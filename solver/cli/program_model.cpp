#include "cli/program_model.hpp"

#include <CLI/CLI.hpp>

namespace fewbit::solver {

namespace {

OptionModel option_of(const CLI::Option& option) {
  OptionModel model{{}, {}, option.get_description(), option.get_positional()};
  if (model.positional) {
    model.names.push_back(option.get_name(true));
    model.value = model.names.front();
    return model;
  }
  for (const auto& name : option.get_snames()) model.names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) model.names.push_back("--" + name);
  if (option.get_items_expected_max() > 0) model.value = option.get_type_name();
  return model;
}

CommandModel command_of(const CLI::App& app, const std::string& name) {
  CommandModel model{name, app.get_description(), app.get_footer(), {}};
  const auto shown = [](const CLI::Option* option) { return !option->get_group().empty(); };
  for (const CLI::Option* option : app.get_options(shown)) {
    model.options.push_back(option_of(*option));
  }
  return model;
}

}  // namespace

std::vector<CommandModel> program_model(const CLI::App& app) {
  std::vector<CommandModel> commands{command_of(app, "")};
  for (const CLI::App* command : app.get_subcommands({})) {
    commands.push_back(command_of(*command, command->get_name()));
  }
  return commands;
}

}  // namespace fewbit::solver
