#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace fewbit::solver {

/// An option as --help shows it.
struct OptionModel {
  std::vector<std::string> names;  ///< "-o", "--output"; of a positional its name alone
  std::string value;               ///< "PATH"; empty for a flag
  std::string help;
  bool positional;
};

struct CommandModel {
  std::string name;  ///< empty for the program itself
  std::string help;
  std::string footer;
  std::vector<OptionModel> options;  ///< without hidden ones
};

/// The program itself and then its commands: what completion and the man page are written from.
std::vector<CommandModel> program_model(const CLI::App& app);

}  // namespace fewbit::solver
