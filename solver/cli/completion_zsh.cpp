#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/completion.hpp"
#include "cli/option_values.hpp"

namespace fewbit::solver {

namespace {

constexpr const char* kZshHead = R"(#compdef fewbit-solve
# zsh completion for fewbit-solve, written by fewbit-solve --completion zsh

# Words, of which one that ends in a colon goes on with the name of a file.
_fewbit_solve_words() {
  local word
  for word in ${(M)@:#*:}; do
    if compset -P "$word"; then
      _files
      return
    fi
  done
  compadd -S '' -- ${(M)@:#*:}
  compadd -- ${@:#*:}
}

_fewbit_solve() {
  local -a commands=(
)";

constexpr const char* kZshMiddle = R"(  )
  local command=
  if (( CURRENT > 2 )) && (( ${+commands[(r)$words[2]:*]} )) && [[ -n ${commands[(r)$words[2]:*]} ]]; then
    command=$words[2]
    shift words
    (( CURRENT-- ))
  fi
  case $command in
)";

constexpr const char* kZshTail = R"(  esac
}

if [[ $funcstack[1] == _fewbit-solve ]]; then
  _fewbit_solve "$@"
else
  compdef _fewbit_solve fewbit-solve
fi
)";

/// Within single quotes, with a backslash before each of `special`.
std::string escaped(const std::string& text, const std::string& special) {
  std::string result;
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
      continue;
    }
    if (special.find(c) != special.npos || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

/// ":message:action", what completes a value.
std::string action_of(const OptionModel& option) {
  const OptionValues values = values_of(option);
  std::vector<std::string> words = values.words;
  words.insert(words.end(), values.before_file.begin(), values.before_file.end());
  std::string action = " ";
  if (values.list) {
    action = words.empty() ? " " : fmt::format(" _values -s , word {}", fmt::join(words, " "));
  } else if (!words.empty()) {
    action = fmt::format(" _fewbit_solve_words {}", fmt::join(words, " "));
  } else if (values.files) {
    action = "_files";
  } else if (values.folders) {
    action = "_files -/";
  }
  return ":" + escaped(option.value, ":") + ":" + escaped(action, ":");
}

std::string spec_of(const OptionModel& option) {
  if (option.positional) return fmt::format("'*{}'", action_of(option));
  const std::string help = "[" + escaped(option.help, "[]:") + "]";
  const std::string value = option.value.empty() ? "" : action_of(option);
  const std::string more = option.value.empty() ? "" : "=";
  std::string text;
  for (const auto& name : option.names) {
    // A long option also takes its value after "=".
    const std::string mark = name.starts_with("--") ? more : more.empty() ? "" : "+";
    text += fmt::format("{}'({}){}{}{}{}'", text.empty() ? "" : " ", fmt::join(option.names, " "),
                        name, mark, help, value);
  }
  return text;
}

std::string arguments_of(const CommandModel& command) {
  std::string text = fmt::format("    '{}')\n      _arguments", command.name);
  for (const auto& option : command.options) text += " \\\n        " + spec_of(option);
  if (command.name.empty()) text += " \\\n        '1:command:{_describe command commands}'";
  return text + "\n      ;;\n";
}

}  // namespace

std::string zsh_completion(const std::vector<CommandModel>& program) {
  std::string text = kZshHead;
  for (const auto& command : program) {
    if (command.name.empty()) continue;
    text += fmt::format("    '{}:{}'\n", command.name, escaped(command.help, ":"));
  }
  text += kZshMiddle;
  for (const auto& command : program) text += arguments_of(command);
  return text + kZshTail;
}

}  // namespace fewbit::solver
