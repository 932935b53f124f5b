#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/completion.hpp"
#include "cli/option_values.hpp"

namespace fewbit::solver {

namespace {

constexpr const char* kFishHead =
    R"(# fish completion for fewbit-solve, written by fewbit-solve --completion fish

# Names of files behind a word such as "samples:".
function __fewbit_solve_files
    set -l word (string replace -r -- '^--[a-z]+=' '' (commandline -ct))
    for start in $argv
        string match -q -- "$start*" $word
        and printf '%s\n' $start(__fish_complete_path (string replace -- $start '' $word))
    end
end

# A comma list goes on behind its last comma.
function __fewbit_solve_list
    set -l word (string replace -r -- '^--[a-z]+=' '' (commandline -ct))
    set -l start (string match -r -- '^.*,' $word)
    printf '%s\n' $start$argv
end

complete -c fewbit-solve -f
)";

std::string fish_quoted(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return "'" + result + "'";
}

/// The flags that say what a value may be: -x is one that is no file.
std::string values_text(const OptionModel& option) {
  const OptionValues values = values_of(option);
  const std::string words = fmt::format("{}", fmt::join(values.words, " "));
  const std::string starts = fmt::format("{}", fmt::join(values.before_file, " "));
  if (values.files) return " -r -F";
  if (values.folders) return " -x -a '(__fish_complete_directories)'";
  if (words.empty()) return " -x";
  // With no comma yet the start is empty, and an empty list would leave nothing of the words.
  if (values.list) return fmt::format(" -x -a '{} (__fewbit_solve_list {})'", words, words);
  if (starts.empty()) return fmt::format(" -x -a '{}'", words);
  return fmt::format(" -x -a '{} {} (__fewbit_solve_files {})'", words, starts, starts);
}

std::string lines_of(const CommandModel& command, const std::string& condition) {
  std::string text;
  for (const auto& option : command.options) {
    text += "complete -c fewbit-solve -n " + fish_quoted(condition);
    for (const auto& name : option.names) {
      if (option.positional) break;
      text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    if (!option.value.empty()) text += values_text(option);
    text += " -d " + fish_quoted(option.help) + "\n";
  }
  return text;
}

}  // namespace

std::string fish_completion(const std::vector<CommandModel>& program) {
  std::string names;
  for (const auto& command : program) {
    if (!command.name.empty()) names += " " + command.name;
  }
  const std::string alone = "not __fish_seen_subcommand_from" + names;
  std::string text = kFishHead;
  for (const auto& command : program) {
    if (command.name.empty()) {
      text += lines_of(command, alone);
      continue;
    }
    text +=
        fmt::format("complete -c fewbit-solve -n {} -a {} -d {}\n",
                    fish_quoted("__fish_is_first_token"), command.name, fish_quoted(command.help));
    text += lines_of(command, "__fish_seen_subcommand_from " + command.name);
  }
  return text;
}

}  // namespace fewbit::solver
