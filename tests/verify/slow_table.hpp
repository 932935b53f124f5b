#pragma once

#include "table/table.hpp"

namespace fewbit::solver {

/// A problem on [-10, 10] (or `domain`), squared objective.
Problem make_problem(const std::string& expression, Form form, int levels,
                     const WeightSpec& weight = {}, Domain domain = {});

WeightSpec normal_weight(double mean, double sigma);

/// An optimal table found the slow way: alternating minimisation from `start` (ascending levels;
/// for Form::intervals f' must be monotone) until nothing moves. Its lower_bound is taken as 1e-10
/// below its error: for verify to confirm.
Table slow_table(const Problem& problem, std::vector<double> start, Symmetry symmetry);

}  // namespace fewbit::solver
