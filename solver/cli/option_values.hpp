#pragma once

#include <string>
#include <vector>

#include "cli/program_model.hpp"

namespace fewbit::solver {

/// What completion offers for the value of an option; nothing for free text.
struct OptionValues {
  std::vector<std::string> words;
  std::vector<std::string> before_file;  ///< "samples:", which the name of a file follows
  bool files = false;
  bool folders = false;
  bool list = false;  ///< words may be repeated, with commas between
};

/// By the option's name, since --form takes the same words in every command; else by the name of
/// its value (PATH, FILE, FOLDER).
OptionValues values_of(const OptionModel& option);

}  // namespace fewbit::solver
