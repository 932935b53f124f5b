#include "cli/man_page.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace fewbit::solver {

namespace {

/// Text as roff shows it unchanged: a dash stays a dash, no line becomes a request.
std::string plain(const std::string& text) {
  std::string result;
  bool start = true;
  for (const char c : text) {
    if (start && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else if (c == '\'') {
      result += "\\(aq";
    } else if (c == '`') {
      result += "\\(ga";
    } else if (c == '^') {
      result += "\\(ha";
    } else if (c == '~') {
      result += "\\(ti";
    } else {
      result += c;
    }
    start = c == '\n';
  }
  return result;
}

/// Lines as they are.
std::string verbatim(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  return ".nf\n" + plain(text) + "\n.fi\n";
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return c == '-' ? ' ' : std::toupper(c); });
  return text;
}

std::string option_text(const OptionModel& option) {
  std::string names;
  for (const auto& name : option.names) {
    names += (names.empty() ? "\\fB" : ", \\fB") + plain(name) + "\\fR";
  }
  if (option.positional) names = "\\fI" + plain(option.value) + "\\fR";
  if (!option.positional && !option.value.empty()) names += " \\fI" + plain(option.value) + "\\fR";
  return ".TP\n" + names + "\n" + plain(option.help) + ".\n";
}

std::string options_text(const CommandModel& command) {
  std::string text;
  for (const auto& option : command.options) text += option_text(option);
  return text;
}

}  // namespace

std::string man_page(const std::vector<CommandModel>& program, const std::vector<HelpTopic>& topics,
                     const std::string& version) {
  const CommandModel& main = program.front();
  std::string text =
      fmt::format(".TH FEWBIT\\-SOLVE 1 \"\" \"fewbit {}\" \"User Commands\"\n", version);
  text +=
      ".SH NAME\nfewbit\\-solve \\- provably best few\\-bit tables for activation derivatives\n";
  text +=
      ".SH SYNOPSIS\n\\fBfewbit\\-solve\\fR \\fB\\-\\-fn\\fR \\fIFUNCTION\\fR \\fB\\-\\-bits\\fR "
      "\\fISIZES\\fR [\\fIOPTION\\fR ...]\n.br\n"
      "\\fBfewbit\\-solve\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR ...]\n";
  text += ".SH DESCRIPTION\n" + plain(main.help) + "\n";
  text += ".SH OPTIONS\n" + options_text(main);
  text += ".SH COMMANDS\n";
  for (size_t i = 1; i < program.size(); ++i) {
    text += ".SS " + plain(program[i].name) + "\n" + plain(program[i].help) + ".\n" +
            options_text(program[i]) + ".PP\n" + verbatim(program[i].footer);
  }
  for (const auto& topic : topics) {
    text += ".SH " + upper(topic.name) + "\n" + verbatim(topic.text);
  }
  return text + ".SH EXAMPLES\n" + verbatim(main.footer);
}

}  // namespace fewbit::solver
