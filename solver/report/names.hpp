#pragma once

#include <string>

#include "table/table.hpp"

namespace fewbit::solver {

/// "elu(alpha=0.5)"; a function without parameters is its name.
std::string function_name(const FunctionSpec& function);

/// "uniform", "normal(0, 1)", "histogram of 4096 bins".
std::string weight_name(const WeightSpec& weight);

/// "[-10, 10]", "(-inf, inf)".
std::string domain_name(const Domain& domain);

/// What distinguishes tables of one function and size: "levels, uniform", "smoothed, normal(0, 1)".
std::string variant_name(const Problem& problem);

/// "3 bits", "1 bit"; "5 levels in 3 bits" where the levels do not fill the bits.
std::string size_name(const Table& table);

/// Four significant digits, or what `digits` says: "0.008093", "4.1e-05", "0".
std::string short_number(double value, int digits = 4);

/// "within 2.0e-10 of the optimum", "exact".
std::string gap_name(const Table& table);

}  // namespace fewbit::solver
