#include <algorithm>
#include <exception>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.hpp"
#include "codegen/sync.hpp"
#include "table/json.hpp"

namespace {

using fewbit::codegen::Difference;
using fewbit::codegen::Ownership;

constexpr const char* kExamples =
    "Examples:\n"
    "  fewbit-codegen                                  write generated/ from tables/\n"
    "  fewbit-codegen --check                          exit 1 unless generated/ is current\n"
    "  fewbit-codegen --tables mine --output mine/code\n"
    "  fewbit-codegen --torch my_act.json --output code   a function of one's own for libtorch\n";

struct Options {
  std::string tables = "tables";
  std::string torch;
  std::string output = "generated";
  bool check = false;
};

const char* describe(Difference::Kind kind) {
  switch (kind) {
    case Difference::Kind::missing:
      return "missing";
    case Difference::Kind::changed:
      return "differs";
    default:
      return "stale";
  }
}

int check(const Options& options, const fewbit::codegen::Files& files, Ownership ownership) {
  const auto differences = fewbit::codegen::compare_folder(files, options.output, ownership);
  if (differences.empty()) return 0;
  constexpr size_t kShown = 5;
  std::string names;
  for (size_t i = 0; i < std::min(kShown, differences.size()); ++i) {
    names += fmt::format("{}{} {}", i == 0 ? "" : ", ", differences[i].name,
                         describe(differences[i].kind));
  }
  if (differences.size() > kShown) {
    names += fmt::format(" and {} more", differences.size() - kShown);
  }
  throw fewbit::Error("is not current, run fewbit-codegen: " + names, options.output);
}

fewbit::codegen::Files files_for(const Options& options) {
  if (options.torch.empty()) {
    return fewbit::codegen::generate_files(fewbit::codegen::load_tables(options.tables),
                                           fewbit::codegen::load_trellises(options.tables));
  }
  return fewbit::codegen::generate_torch(fewbit::solver::read_table(options.torch));
}

int run(const Options& options) {
  const auto files = files_for(options);
  // A program's own functions share the folder that they are included from.
  const Ownership ownership = options.torch.empty() ? Ownership::whole : Ownership::shared;
  if (options.check) return check(options, files, ownership);
  for (const auto& [kind, name] :
       fewbit::codegen::update_folder(files, options.output, ownership)) {
    const bool is_stale = kind == Difference::Kind::stale;
    fmt::print("{} {}/{}\n", is_stale ? "removed" : "wrote", options.output, name);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Writes tables and functions as C++ and CUDA headers.", "fewbit-codegen");
  app.footer(kExamples);
  Options options;
  app.add_option("--tables", options.tables, "Folder of <function>/<table>.json")
      ->capture_default_str();
  app.add_option("--torch", options.torch,
                 "Instead of --tables: the table of one function, to be used from libtorch");
  app.add_option("--output", options.output, "Folder of the generated files")
      ->capture_default_str();
  app.add_flag("--check", options.check, "Write nothing; compare names and bytes");
  try {
    app.parse(argc, argv);
    return run(options);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    fmt::print(stderr, "fewbit-codegen: error: {}\n", error.what());
    return 2;
  } catch (const fewbit::UsageError& error) {
    fmt::print(stderr, "fewbit-codegen: error: {}\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "fewbit-codegen: error: {}\n", error.what());
    return 1;
  }
}
