#pragma once

#include <string>
#include <vector>

namespace fewbit::solver {

/// What a user is told about a function of the language.
struct FunctionText {
  std::string name;
  std::string call;  ///< as it is written
  std::string meaning;
  std::string domain;   ///< of what it is called with
  std::string slope;    ///< its derivative, with the rule where there is more than one
  std::string example;  ///< an activation that uses it
};

/// One for each operation and each composition, in the order in which they are told.
const std::vector<FunctionText>& function_texts();

}  // namespace fewbit::solver
