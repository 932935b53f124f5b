#include "codegen/emit.hpp"

#include <memory>

#include <CLI/CLI.hpp>

#include "base/error.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "table/json.hpp"

namespace fewbit::solver {

namespace {

using codegen::Language;

struct EmitArguments {
  std::string file;
  std::string language = "cpp";
  std::string name_space;
  std::string output;
};

constexpr std::pair<const char*, Language> kLanguages[] = {{"cpp", Language::cpp},
                                                           {"cuda", Language::cuda},
                                                           {"torch", Language::torch},
                                                           {"triton", Language::triton}};

Language language_of(const std::string& text) {
  for (const auto& [name, language] : kLanguages) {
    if (text == name) return language;
  }
  throw UsageError("--lang: '" + text + "' is not accepted; expected cpp, cuda, torch or triton");
}

void check(const EmitArguments& options, Language language) {
  if (options.name_space.empty()) return;
  try {
    codegen::check_namespace(options.name_space, language);
  } catch (const Error& error) {
    throw UsageError(std::string("--namespace: ") + error.what());
  }
}

int run_emit(const EmitArguments& options) {
  const Language language = language_of(options.language);
  check(options, language);
  check_not_input("-o", options.output, {options.file});
  write_output(options.output,
               codegen::emit_code(read_table(options.file), language, options.name_space));
  return 0;
}

}  // namespace

Subcommand add_emit(CLI::App& app) {
  const auto options = std::make_shared<EmitArguments>();
  CLI::App* command = app.add_subcommand(
      "emit", "Turn a table into one self-contained file of C++, CUDA or Python");
  command->add_option("FILE", options->file, "A table")->required();
  command
      ->add_option("--lang", options->language, "cpp (default), cuda, torch or triton: see below")
      ->type_name("LANGUAGE");
  command
      ->add_option(
          "--namespace", options->name_space,
          "Where the code goes: a C++ namespace, nested ones joined by ::, or for torch and "
          "triton that of the operations; by default a name that no other table has")
      ->type_name("NAME");
  command->add_option("-o,--output", options->output, "Write here; -, the default: standard output")
      ->type_name("PATH");
  command->footer(
      R"(Each file holds the function, the table, and forward and backward that keep only
the codes, ceil(n * bits / 8) bytes rounded up to 16; its head explains it, with an example.
  cpp     C++20 header for arrays of float or a 16-bit type (std::float16_t, ...)
  cuda    CUDA header: kernels and launchers for float, __half, __nv_bfloat16
  torch   Python module for PyTorch 2.8 or newer, any device: float32, float64, float16, bfloat16
  triton  the same by Triton kernels, for CUDA devices: float32, float16, bfloat16
All give equal codes for equal inputs, but for unbiased tables, which draw random numbers.
The default namespace is fewbit_FUNCTION_FORM_bBITS_DIGEST (_cuda, _triton), the digest that of
the table's text: tables that differ can be used together, and one table always has one name.

Examples:
  fewbit-solve emit tables/gelu/levels_uniform_b3.json -o gelu_3bit.hpp
  fewbit-solve emit my_act.json --lang cuda --namespace my::act -o my_act.cuh
  fewbit-solve emit layer0.json --lang torch -o layer0.py
      from layer0 import Activation, activation        # in Python
  fewbit-solve emit layer0.json --lang triton -o -)");
  return {command, [options] { return run_emit(*options); }};
}

}  // namespace fewbit::solver
