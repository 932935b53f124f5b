#pragma once

#include <span>
#include <string_view>

#include "step_table.hpp"

namespace fewbit {

/// One table of generated/.
struct BuiltinTable {
  std::string_view function;
  const generated::StepTable* table;
};

/// All of them, in the order of the registry.
std::span<const BuiltinTable> builtin_tables();

/// Null where there is none.
const generated::StepTable* find_builtin(std::string_view function, std::string_view name);

}  // namespace fewbit
