#pragma once

#include <map>
#include <string>
#include <vector>

#include "table/table.hpp"

namespace fewbit::codegen {

/// File name (relative to the output folder) to content.
using Files = std::map<std::string, std::string>;

/// All tables below `folder`, which holds <function>/<stem>.json, ordered by function and stem. A
/// missing folder is an empty one. Throws Error for a file that is no table, whose name does not
/// fit its content, or whose function is not the registry's.
std::vector<solver::Table> load_tables(const std::string& folder);

/// Everything that belongs into generated/: one header per registered function with its tables,
/// what they include, the registry include, sources.cmake. A pure function of registry, templates
/// and tables.
Files generate_files(const std::vector<solver::Table>& tables);

}  // namespace fewbit::codegen
