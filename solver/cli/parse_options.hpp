#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "table/table.hpp"

namespace fewbit::solver {

// Texts of the command line to values. All throw UsageError naming the option, what was seen and
// what is accepted.

/// "a,b,c" at the commas; no empty parts.
std::vector<std::string> split_list(std::string_view text, std::string_view option);

/// What --form and --dtype accept.
std::vector<std::string> form_names();
std::vector<std::string> dtype_names();

/// "intervals", "levels" or "unbiased".
Form parse_form(std::string_view text);

/// "exact", "fp32", "bf16" or "fp16".
DataType parse_dtype(std::string_view text);

/// "squared" or "smoothed[:tau=0.83,lambda=1e-3]"; 0 < tau < 1, lambda >= 0.
Objective parse_objective(std::string_view text);

/// "LO,HI": ascending, no NaN, infinite ends allowed (but not inf as LO).
Domain parse_domain(std::string_view text);

/// Tau is written out although `weight` has units, whose own spreads stand in its place: refused,
/// since it would change nothing.
void check_objective(std::string_view text, const WeightSpec& weight);

/// "3", "1-4", "1,2,8": bits from 1 to 8, as levels (2^bits), ascending, each once.
std::vector<int> parse_bits_list(std::string_view text);

/// "5", "3-6", "3,5,9": levels from 2 to 256, ascending, each once.
std::vector<int> parse_levels_list(std::string_view text);

/// A range or a list, even if of one size only: what it gives is an array.
bool is_list_of_sizes(std::string_view text);

}  // namespace fewbit::solver
