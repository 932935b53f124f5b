#include "cli/completion.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace fewbit::solver {

std::string completion_for(std::string_view shell, const std::vector<CommandModel>& program) {
  if (shell == "bash") return bash_completion(program);
  if (shell == "zsh") return zsh_completion(program);
  if (shell == "fish") return fish_completion(program);
  throw UsageError(
      fmt::format("--completion: '{}' is not accepted; expected bash, zsh or fish", shell));
}

}  // namespace fewbit::solver
