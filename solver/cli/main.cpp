#include <array>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.hpp"
#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/completion.hpp"
#include "cli/help_topics.hpp"
#include "cli/man_page.hpp"
#include "cli/output.hpp"
#include "cli/program_model.hpp"
#include "cli/usage.hpp"

namespace {

using namespace fewbit::solver;

constexpr const char* kExamples = R"(Examples:
  fewbit-solve --fn gelu --bits 3                 the best 3-bit table, with its proof and a plot
  fewbit-solve --fn elu:alpha=0.5 --bits 2 --weight normal:0,1
  fewbit-solve --fn silu --levels 5 --form intervals --domain -8,8
  fewbit-solve --fn gelu --bits 2 --form unbiased --json -o gelu.json
  fewbit-solve --fn gelu --bits 2 --weight normal:0,1 --objective smoothed:tau=0.83,lambda=1e-3
  fewbit-solve --fn gelu --bits 3 --weight samples:inputs.npy
  fewbit-solve --expr 'x*sigmoid(1.702*x)' --name my_act --bits 3
  fewbit-solve --fn gelu --bits 1-4 -o 'gelu_{bits}.json'    four tables
  fewbit-solve COMMAND --help                     more about a command
  fewbit-solve help expressions                   what --expr understands)";

/// What the installed manual and the completions are made with.
struct Manual {
  std::string shell;
  bool page = false;

  void add_to(CLI::App& app) {
    app.add_option("--completion", shell, "Print the completion for bash, zsh or fish")
        ->type_name("SHELL");
    app.add_flag("--man", page, "Print the manual page")->group("");
  }
  bool asked() const { return page || !shell.empty(); }
  std::string text(const CLI::App& app) const {
    const auto program = program_model(app);
    return page ? man_page(program, help_topics(), FEWBIT_VERSION) : completion_for(shell, program);
  }
};

/// Every command takes --quiet, and so does the program before a command.
void add_quiet(CLI::App& app, bool& quiet) {
  const char* help = "No progress, no notes: only what was asked for, and errors";
  app.add_flag("-q,--quiet", quiet, help);
  for (CLI::App* command : app.get_subcommands({})) command->add_flag("-q,--quiet", quiet, help);
}

/// No option means anything without a value, and no flag with one.
void check_values(CLI::App& app) {
  const auto given = [](const std::string& value) {
    return value.empty() ? std::string("no value given, expected one") : std::string();
  };
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() == 0) {
      option->disable_flag_override();
    } else {
      option->check(CLI::Validator(given, ""));
    }
  }
  for (CLI::App* command : app.get_subcommands({})) check_values(*command);
}

/// Other options of the default command in front of a command would be ignored.
void check_order(const CLI::App& app, const CLI::App& command) {
  for (const auto* option : app.get_options()) {
    if (option->count() == 0 || option->check_name("--quiet")) continue;
    throw fewbit::UsageError(option->get_name() +
                             " does not go before a command: write it after '" +
                             command.get_name() + "', if it takes it");
  }
}

/// --help TOPIC, --help, --version.
void answer(CLI::App& app, const CLI::ParseError& error) {
  const auto words = app.remaining();
  if (dynamic_cast<const CLI::CallForHelp*>(&error) != nullptr && !words.empty()) {
    print(help_on(app, words.front()));
  } else {
    app.exit(error);
  }
}

int fail(int code, const std::string& message) {
  fmt::print(stderr, "fewbit-solve: error: {}\n", message);
  return code;
}

int run(int argc, char** argv) {
  CLI::App app("Finds the provably best few-bit step function for an activation's derivative.",
               "fewbit-solve");
  app.footer(std::string(kExamples) + "\n\nTopics of fewbit-solve help:\n" + topic_list());
  app.set_version_flag("--version", "fewbit-solve " FEWBIT_VERSION);
  app.require_subcommand(0, 1);
  app.get_formatter()->column_width(34);
  const Subcommand solve = add_solve(app);
  const std::array commands{
      add_list(app), add_show(app),   add_verify(app), add_report(app, command_line(argc, argv)),
      add_emit(app), add_tables(app), add_help(app)};
  bool quiet = false;
  Manual manual;
  add_quiet(app, quiet);
  manual.add_to(app);
  check_values(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) throw fewbit::UsageError(usage_message(app, error));
    answer(app, error);
    return 0;
  }
  set_quiet(quiet);
  for (const auto& command : commands) {
    if (!app.got_subcommand(command.app)) continue;
    check_order(app, *command.app);
    return command.run();
  }
  if (!manual.asked()) return solve.run();
  print(manual.text(app));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  // A reader of standard output that goes away must not end the work half-way.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    const int code = run(argc, argv);
    fewbit::solver::flush_output();
    return code;
  } catch (const fewbit::UsageError& error) {
    return fail(2, error.what());
  } catch (const std::bad_alloc&) {
    return fail(1, "out of memory");
  } catch (const std::exception& error) {
    return fail(1, error.what());
  }
}
