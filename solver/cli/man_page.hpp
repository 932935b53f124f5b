#pragma once

#include <string>
#include <vector>

#include "cli/help_topics.hpp"
#include "cli/program_model.hpp"

namespace fewbit::solver {

/// fewbit-solve(1) in man's macros: the options, the commands with theirs, every help topic.
std::string man_page(const std::vector<CommandModel>& program, const std::vector<HelpTopic>& topics,
                     const std::string& version);

}  // namespace fewbit::solver
