#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/program_model.hpp"

namespace fewbit::solver {

// Scripts that complete commands, options and their values. Each needs nothing but its shell.
std::string bash_completion(const std::vector<CommandModel>& program);
std::string zsh_completion(const std::vector<CommandModel>& program);
std::string fish_completion(const std::vector<CommandModel>& program);

/// For "bash", "zsh" or "fish"; throws UsageError for any other shell.
std::string completion_for(std::string_view shell, const std::vector<CommandModel>& program);

}  // namespace fewbit::solver
