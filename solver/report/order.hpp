#pragma once

#include <vector>

#include "report/study.hpp"

namespace fewbit::solver {

/// The order of functions in a report: by the largest error, bias or gap of their tables, largest
/// first, by name, or as they were given. Tables of one function stay together, in their order.
enum class Order { error, bias, gap, name, given };

/// One sentence about it for readers of the report.
const char* explain(Order order);

std::vector<Result> sorted(std::vector<Result> results, Order order);

/// Without repetitions of exact tables: a function that is exact has the same table for every form,
/// weight and number of bits. Of each the first remains.
std::vector<Result> exact_once(const std::vector<Result>& results);

}  // namespace fewbit::solver
