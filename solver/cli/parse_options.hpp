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

/// "intervals", "levels" or "unbiased".
Form parse_form(std::string_view text);

/// "exact", "fp32", "bf16" or "fp16".
DataType parse_dtype(std::string_view text);

/// "squared" or "smoothed[:tau=0.83,lambda=1e-3]"; 0 < tau < 1, lambda >= 0.
Objective parse_objective(std::string_view text);

/// "LO,HI": ascending, no NaN, infinite ends allowed (but not inf as LO).
Domain parse_domain(std::string_view text);

/// "3" (1 to 8) as levels, 2^3.
int parse_bits(std::string_view text);

/// "2" to "256".
int parse_levels(std::string_view text);

/// "1-4", "3", "1,2,8": bits, as levels.
std::vector<int> parse_bits_list(std::string_view text);

}  // namespace fewbit::solver
