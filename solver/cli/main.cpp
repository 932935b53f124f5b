#include <array>
#include <cstdio>
#include <exception>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"

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
  fewbit-solve COMMAND --help                     more about a command
  fewbit-solve help expressions                   what --expr understands)";

/// CLI11's messages may have several lines; an error is one.
std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

int fail(int code, const std::string& message) {
  fmt::print(stderr, "fewbit-solve: error: {}\n", message);
  return code;
}

int run(int argc, char** argv) {
  CLI::App app("Finds the provably best few-bit step function for an activation's derivative.",
               "fewbit-solve");
  app.footer(kExamples);
  app.set_version_flag("--version", "fewbit-solve " FEWBIT_VERSION);
  app.require_subcommand(0, 1);
  app.get_formatter()->column_width(34);
  const Subcommand solve = add_solve(app);
  const std::array commands{add_list(app), add_show(app),   add_verify(app), add_report(app),
                            add_emit(app), add_tables(app), add_help(app)};
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) throw;
    const auto words = app.remaining();
    if (words.size() == 1 && print_topic(words[0])) return 0;  // --help expressions
    app.exit(error);                                           // --help, --version
    return 0;
  }
  for (const auto& command : commands) {
    if (!app.got_subcommand(command.app)) continue;
    // Options of the default command in front of a subcommand would be ignored.
    for (const auto* option : app.get_options()) {
      if (option->count() > 0) {
        throw fewbit::UsageError(option->get_name() +
                                 " does not go before a command: write it after '" +
                                 command.app->get_name() + "', if it takes it");
      }
    }
    return command.run();
  }
  return solve.run();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int code = run(argc, argv);
    fewbit::solver::flush_output();
    return code;
  } catch (const CLI::ParseError& error) {
    return fail(2, first_line(error.what()) + " (see --help)");
  } catch (const fewbit::UsageError& error) {
    return fail(2, error.what());
  } catch (const std::bad_alloc&) {
    return fail(1, "out of memory");
  } catch (const std::exception& error) {
    return fail(1, error.what());
  }
}
