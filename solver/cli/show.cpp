#include <memory>

#include <CLI/CLI.hpp>

#include "base/error.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "report/describe.hpp"
#include "report/table_svg.hpp"
#include "table/json.hpp"

namespace fewbit::solver {

namespace {

struct ShowArguments {
  std::string file;
  std::string output;
  bool picture = false;
};

int run_show(const ShowArguments& options) {
  check_not_input("-o", options.output, {options.file});
  check_output(options.output);
  const Table table = read_table(options.file);
  if (options.picture) {
    write_output(options.output, table_picture(table));
  } else {
    const bool terminal = is_standard_output(options.output);
    write_output(options.output, terminal ? describe(table, wants_colour(), output_width())
                                          : describe(table, false));
  }
  return 0;
}

}  // namespace

Subcommand add_show(CLI::App& app) {
  const auto options = std::make_shared<ShowArguments>();
  CLI::App* command = app.add_subcommand("show", "Print a table from its file, or draw it");
  command->add_option("FILE", options->file, "A table")->required()->type_name("");
  command->add_flag("--svg", options->picture, "A picture instead of text");
  command->add_option("-o,--output", options->output, "Write here instead of standard output")
      ->type_name("PATH");
  command->footer(R"(Examples:
  fewbit-solve show tables/gelu/levels_uniform_b3.json
  fewbit-solve show tables/gelu/levels_uniform_b3.json --svg -o gelu.svg)");
  return {command, [options] { return run_show(*options); }};
}

}  // namespace fewbit::solver
