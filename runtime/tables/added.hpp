#pragma once

#include <string>

namespace fewbit {

namespace solver {
struct Table;
}

/// Remembers a function of a consumer's own, with the table that it came with, as long as the
/// program runs. Throws c10::Error where the text is not a table of this function without
/// parameters, or the name was added with another table.
void add_function(const std::string& name, const std::string& table_json);

/// The table of a function that was added, or null. Stays where it is.
const solver::Table* find_added(const std::string& function);

}  // namespace fewbit
