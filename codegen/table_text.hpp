#pragma once

#include <string>
#include <vector>

#include "table/table.hpp"

namespace fewbit::codegen {

/// Thresholds as float: the largest float not above each, so that "x > t" keeps its meaning for
/// float x (and for the 16-bit types, which are subsets).
std::vector<float> float_thresholds(const solver::Table& table);

/// Exactly 2^bits levels: codes that the table does not use decode as the last level.
std::vector<float> float_levels(const solver::Table& table);

std::vector<std::string> hex_literals(const std::vector<float>& values);

/// The code of each interval.
std::vector<std::string> code_literals(const solver::Table& table);

/// "gelu", "elu, alpha = 0.5".
std::string function_title(const solver::Table& table);

/// Form, weight and domain; objective; error and lower bound; gap: three or four lines.
std::vector<std::string> table_summary(const solver::Table& table);

/// The values in shortest decimals after `name`, as comment lines of at most 100 columns.
std::string decimal_comment(const std::string& name, const std::vector<double>& values,
                            size_t indent);

/// The weight in words: "normal (mean 0, sigma 1)".
std::string weight_text(const solver::WeightSpec& weight);

}  // namespace fewbit::codegen
