#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace fewbit::solver {

/// A page of `fewbit-solve help`; the man page has them all.
struct HelpTopic {
  std::string name;     ///< one word, as it is typed
  std::string summary;  ///< half a line
  std::string text;     ///< lines of at most 80 columns, plain text
};

/// In the order in which they are listed.
std::vector<HelpTopic> help_topics();

/// The page of a topic, or the --help of a command. Throws UsageError with all names for any other.
std::string help_on(const CLI::App& program, const std::string& name);

/// One line for each topic, indented.
std::string topic_list();

}  // namespace fewbit::solver
