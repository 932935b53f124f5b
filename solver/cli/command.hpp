#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace fewbit::solver {

/// What runs once the command line has been read; returns the exit code.
using Command = std::function<int()>;

/// Each adds its options (and, but for solve, a subcommand) to `app` and returns what it does.
/// Every file of this folder that is named after a command holds one of them.
struct Subcommand {
  CLI::App* app;
  Command run;
};

Subcommand add_solve(CLI::App& app);
Subcommand add_list(CLI::App& app);
Subcommand add_show(CLI::App& app);
Subcommand add_verify(CLI::App& app);
/// `command_line` is what the report says of its origin.
Subcommand add_report(CLI::App& app, const std::string& command_line);
Subcommand add_emit(CLI::App& app);
Subcommand add_tables(CLI::App& app);
Subcommand add_help(CLI::App& app);

}  // namespace fewbit::solver
