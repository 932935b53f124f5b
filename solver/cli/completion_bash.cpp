#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/completion.hpp"
#include "cli/option_values.hpp"

namespace fewbit::solver {

namespace {

constexpr const char* kBashHead =
    R"(# bash completion for fewbit-solve, written by fewbit-solve --completion bash

# _fewbit_solve_offer: what of $words, $before_file, $files and $folders goes on from $cur.
_fewbit_solve_offer() {
  local prefix='' word found
  if [[ $list && $cur == *,* ]]; then
    prefix=${cur%,*},
    cur=${cur##*,}
  fi
  for word in $before_file; do
    [[ $cur == "$word"* ]] || continue
    prefix=$word
    cur=${cur#"$word"}
    files=1 words='' before_file=''
  done
  mapfile -t COMPREPLY < <(compgen -W "$words $before_file" -- "$cur")
  [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *: ]] && compopt -o nospace
  if [[ $files || $folders ]]; then
    compopt -o filenames
    found=$(compgen -A "${files:+file}${folders:+directory}" -- "$cur")
    [[ $found ]] && mapfile -t COMPREPLY <<<"$found"
  fi
  COMPREPLY=("${COMPREPLY[@]/#/$prefix}")
}

_fewbit_solve() {
  local line=${COMP_LINE:0:COMP_POINT} typed='' cur prev command='' word argv breaks='' written=''
  local words='' before_file='' files='' folders='' list=''
  COMPREPLY=()
  read -ra argv <<<"$line"
  if [[ $line != *[[:blank:]] ]]; then
    typed=${argv[-1]}
    unset 'argv[-1]'
  fi
  prev=${argv[-1]}
  cur=$typed
  for word in "${argv[@]:1}"; do
    [[ $word == -q || $word == --quiet ]] && continue
    case $word in
      )";

// After "case $word in", the names of the commands.
constexpr const char* kBashMiddle = R"() command=$word ;;
    esac
    break
  done
  if [[ $cur == --*=* ]]; then
    prev=${cur%%=*}
    cur=${cur#*=}
  fi
  case "$command $prev" in
)";

constexpr const char* kBashTail = R"(  esac
  _fewbit_solve_offer
  # Readline replaces only what follows the last of these characters.
  [[ $COMP_WORDBREAKS == *:* ]] && breaks+=':'
  [[ $COMP_WORDBREAKS == *=* ]] && breaks+='='
  [[ $typed == --*=* ]] && COMPREPLY=("${COMPREPLY[@]/#/${typed%%=*}=}")
  [[ $breaks ]] && written=${typed%"${typed##*["$breaks"]}"}
  COMPREPLY=("${COMPREPLY[@]#"$written"}")
}

complete -F _fewbit_solve fewbit-solve
)";

/// "words='a b' files=1", for the script's local variables.
std::string settings(const OptionValues& values) {
  std::string text;
  if (!values.words.empty()) text += fmt::format(" words='{}'", fmt::join(values.words, " "));
  if (!values.before_file.empty()) {
    text += fmt::format(" before_file='{}'", fmt::join(values.before_file, " "));
  }
  if (values.files) text += " files=1";
  if (values.folders) text += " folders=1";
  if (values.list) text += " list=1";
  return text.empty() ? ":" : text.substr(1);
}

std::string cases_of(const CommandModel& command) {
  std::string text;
  for (const auto& option : command.options) {
    if (option.positional || option.value.empty()) continue;
    std::string patterns;
    for (const auto& name : option.names) {
      patterns += fmt::format("{}'{} {}'", patterns.empty() ? "" : " | ", command.name, name);
    }
    text += fmt::format("    {}) {} ;;\n", patterns, settings(values_of(option)));
  }
  return text;
}

/// Where no value is due: the options once a dash is there, else what stands alone.
std::string rest_of(const CommandModel& command, const std::vector<std::string>& commands) {
  std::vector<std::string> names;
  OptionValues alone;
  for (const auto& option : command.options) {
    if (option.positional) {
      alone = values_of(option);
      continue;
    }
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  if (command.name.empty()) alone.words = commands;
  return fmt::format(
      "    '{} '*)\n      if [[ $cur == -* ]]; then words='{}'; else {}; fi\n      ;;\n",
      command.name, fmt::join(names, " "), settings(alone));
}

}  // namespace

std::string bash_completion(const std::vector<CommandModel>& program) {
  std::vector<std::string> commands;
  for (const auto& command : program) {
    if (!command.name.empty()) commands.push_back(command.name);
  }
  std::string text = kBashHead + fmt::format("{}", fmt::join(commands, " | ")) + kBashMiddle;
  for (const auto& command : program) text += cases_of(command);
  for (const auto& command : program) text += rest_of(command, commands);
  return text + kBashTail;
}

}  // namespace fewbit::solver
