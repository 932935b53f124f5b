#pragma once

#include <string>

#include "table/table.hpp"

namespace fewbit::codegen {

enum class Language { cpp, cuda };

/// One self-contained header for `table`: its function and derivative in float, the table, encode
/// and decode, and forward and backward over arrays (C++20 loops, or CUDA kernels with launchers).
/// Everything is in namespace fewbit_<function>_b<bits>. The same table gives the same text on
/// every machine. Throws Error where the table's expression does not parse.
std::string emit_header(const solver::Table& table, Language language);

}  // namespace fewbit::codegen
