#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <regex>
#include <set>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/parse_options.hpp"
#include "cli/progress.hpp"
#include "cli/shipped.hpp"
#include "functions/registry.hpp"
#include "proven/solve.hpp"
#include "report/names.hpp"
#include "report/parallel.hpp"
#include "table/json.hpp"
#include "trellis/trellis.hpp"

namespace fewbit::solver {

namespace {

namespace fs = std::filesystem;

/// Work is no limit for shipped tables, the gap is.
constexpr double kNoHurry = 600.0;

struct TablesArguments {
  std::string folder;
  std::string functions;
  bool check = false;
};

/// Path below the folder -> text.
using Files = std::map<std::string, std::string>;

/// Folders of the tables that are asked for; empty: all.
using Folders = std::set<std::string>;

bool is_wanted(const Folders& folders, const std::string& name) {
  return folders.empty() || folders.contains(name);
}

/// The registry's name of a function, where its parameters have their defaults.
std::string registry_name(const std::string& text) {
  try {
    if (text.find(':') == std::string::npos) return parse_function(text).name;
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
  throw UsageError("--fn: '" + text + "' has parameters; the shipped tables are of the defaults");
}

/// The folders of what --fn names. Quantisers are shipped beside the registry's functions.
Folders folders_of(const std::string& functions, const std::vector<Problem>& problems) {
  Folders folders;
  if (functions.empty()) return folders;
  for (const std::string& part : split_list(functions, "--fn")) {
    const bool is_name = std::any_of(problems.begin(), problems.end(), [&part](const Problem& one) {
      return one.function.name == part;
    });
    folders.insert(is_name ? part : registry_name(part));
  }
  return folders;
}

Files solve_shipped(const std::vector<Problem>& problems) {
  std::vector<std::pair<std::string, std::string>> solved(problems.size());
  Progress progress("solving");
  const auto work = [&](size_t i) {
    try {
      const Table table = solve(problems[i], {.search = {.patience = kNoHurry}});
      solved[i] = {shipped_path(table), to_json(table)};
    } catch (const Error& error) {
      throw Error(
          fmt::format("{}, {}, {}: {}", problems[i].function.name, variant_name(problems[i]),
                      counted(static_cast<size_t>(problems[i].levels), "level"), error.what()));
    }
  };
  parallel_for(problems.size(), work, [&](size_t done, size_t total) { progress(done, total); });
  Files files;
  for (const auto& [path, text] : solved) {
    const auto [place, fresh] = files.emplace(path, text);
    // A small range of f' may need fewer bits than were allowed: the same table twice is one file.
    if (!fresh && place->second != text) throw Error("two different tables for one name", path);
  }
  return files;
}

/// Tables by name in the folder: only what this command could have written counts, so nobody's
/// other files are touched.
std::vector<std::string> present(const fs::path& folder, const Folders& folders) {
  static const std::regex kName("(intervals|levels|unbiased|smoothed)_[a-z]+_b[1-8]\\.json");
  std::vector<std::string> names;
  std::error_code status;
  for (const auto& entry : fs::directory_iterator(folder, status)) {
    if (!entry.is_directory() || !is_wanted(folders, entry.path().filename().string())) continue;
    for (const auto& file : fs::directory_iterator(entry.path())) {
      const std::string name = file.path().filename().string();
      if (!std::regex_match(name, kName)) continue;
      names.push_back(entry.path().filename().string() + "/" + name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

struct Changes {
  std::vector<std::string> written;
  std::vector<std::string> stale;
};

Changes compare(const fs::path& folder, const Files& files, const Folders& folders) {
  Changes changes;
  for (const auto& [path, text] : files) {
    const fs::path place = folder / path;
    if (!fs::exists(place) || read_text_file(place.string()) != text) {
      changes.written.push_back(path);
    }
  }
  for (const auto& path : present(folder, folders)) {
    if (!files.contains(path)) changes.stale.push_back(path);
  }
  return changes;
}

void tell(const std::string& text) {
  if (!is_quiet()) print(text);
}

/// The folder itself may be new, the one that it is in not; checking needs one that is there.
void check_folder(const TablesArguments& options) {
  std::error_code status;
  const fs::path folder = options.folder;
  if (fs::is_directory(folder, status)) return;
  if (options.check) throw Error("there is no such folder", options.folder);
  check_output(options.folder);
  if (fs::exists(folder, status)) throw Error("is not a folder", options.folder);
}

int run_tables(const TablesArguments& options) {
  check_folder(options);
  const fs::path folder = options.folder;
  std::vector<Problem> problems = shipped_problems();
  const Folders folders = folders_of(options.functions, problems);
  std::erase_if(problems, [&folders](const Problem& problem) {
    return !is_wanted(folders, problem.function.name);
  });
  Files files = solve_shipped(problems);
  const size_t tables = files.size();
  if (folders.empty()) files.emplace(kTrellisFile, to_json(shipped_trellises()));
  const Changes changes = compare(folder, files, folders);
  for (const auto& path : changes.written) {
    if (!options.check) write_text_file((folder / path).string(), files.at(path));
    tell((options.check ? "differs  " : "written  ") + path + "\n");
  }
  for (const auto& path : changes.stale) {
    if (!options.check) fs::remove(folder / path);
    tell((options.check ? "stale    " : "removed  ") + path + "\n");
  }
  const size_t count = changes.written.size() + changes.stale.size();
  tell(fmt::format("{}, {} {}\n", counted(tables, "table"), count,
                   options.check ? "not current" : "changed"));
  if (!options.check || count == 0) return 0;
  throw Error(fmt::format("{} of the files {} not current: run fewbit-solve tables -o {}", count,
                          count == 1 ? "is" : "are", options.folder),
              options.folder);
}

}  // namespace

Subcommand add_tables(CLI::App& app) {
  const auto options = std::make_shared<TablesArguments>();
  CLI::App* command = app.add_subcommand("tables", "Solve the whole shipped set");
  command->add_option("-o,--output", options->folder, "The folder of the tables")
      ->required()
      ->type_name("FOLDER");
  command
      ->add_option(
          "--fn", options->functions,
          "Only of these functions, with commas between; the others' tables are left alone")
      ->type_name("LIST");
  command->add_flag("--check", options->check, "Write nothing; fail where a file would change");
  command->footer(
      R"(Writes only what changed and removes tables that are no longer shipped. FOLDER is made
where it does not exist; the folder that it is in must.
Examples:
  fewbit-solve tables -o tables
  fewbit-solve tables -o tables --fn gelu,silu
  fewbit-solve tables -o tables --check)");
  return {command, [options] { return run_tables(*options); }};
}

}  // namespace fewbit::solver
