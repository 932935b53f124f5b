#pragma once

#include <string>
#include <string_view>

#include "table/table.hpp"

namespace fewbit::solver {

/// The canonical text: keys in fixed order, shortest round-trip decimals, trailing newline; equal
/// tables have equal texts.
std::string to_json(const Table& table);

/// Reads any JSON with exactly the keys of a table (any order, any white space). Throws Error with
/// file and field for anything truncated, nested deeper than a table is, with an unknown, duplicate
/// or missing key, with a wrong type, a wrong count, thresholds that do not ascend, codes out of
/// range, levels that do not ascend, or numbers that are not finite where they must be.
Table from_json(std::string_view text, const std::string& file = {});

Table read_table(const std::string& path);
void write_table(const Table& table, const std::string& path);

/// "levels_uniform_b3": form (or "smoothed" where the objective is), weight, bits.
std::string table_stem(const Table& table);

}  // namespace fewbit::solver
