#pragma once

#include <string>

namespace fewbit {

namespace solver {
struct Table;
}

/// Keeps the table of a consumer's own activation for as long as the program runs. Throws
/// c10::Error where the text is not a table of this function without parameters, or another table
/// is registered by that name.
void register_table(const std::string& name, const std::string& table_json);

/// The table registered for the function, or null. Stays where it is.
const solver::Table* find_registered(const std::string& function);

}  // namespace fewbit
