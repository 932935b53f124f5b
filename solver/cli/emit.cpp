#include "codegen/emit.hpp"

#include <memory>

#include <CLI/CLI.hpp>

#include "base/error.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "table/json.hpp"

namespace fewbit::solver {

namespace {

struct Options {
  std::string file;
  std::string language = "cpp";
  std::string output;
};

codegen::Language language_of(const std::string& text) {
  if (text == "cpp") return codegen::Language::cpp;
  if (text == "cuda") return codegen::Language::cuda;
  throw UsageError("--lang: '" + text + "' is not accepted; expected cpp or cuda");
}

int run(const Options& options) {
  const codegen::Language language = language_of(options.language);
  write_output(options.output, codegen::emit_header(read_table(options.file), language));
  return 0;
}

}  // namespace

Subcommand add_emit(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("emit", "Turn a table into one self-contained C++20 or CUDA header");
  command->add_option("FILE", options->file, "A table")->required();
  command->add_option("--lang", options->language, "cpp (default) or cuda")->type_name("LANGUAGE");
  command->add_option("-o,--output", options->output, "Write here instead of standard output")
      ->type_name("PATH");
  command->footer(R"(Examples:
  fewbit-solve emit tables/gelu/levels_uniform_b3.json -o gelu_3bit.hpp
  fewbit-solve emit my_act.json --lang cuda -o my_act.cuh)");
  return {command, [options] { return run(*options); }};
}

}  // namespace fewbit::solver
