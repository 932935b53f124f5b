#pragma once

#include <memory>
#include <vector>

#include "weights/weight.hpp"

namespace fewbit::solver {

/// Means and edges beyond this, and bins narrower than its inverse, are refused: squares of such
/// numbers no longer fit a double.
inline constexpr double kLargestInput = 1e100;

/// The smooth densities stop at this many sigmas: 3.6e-33 of a normal's mass lies outside.
inline constexpr double kSupportSigmas = 12.0;

// One factory per kind; arguments have been checked by make_weight.
std::unique_ptr<Weight> make_uniform();
std::unique_ptr<Weight> make_normal(double mean, double sigma);
std::unique_ptr<Weight> make_mixture(double sigma_min, double sigma_max);
std::unique_ptr<Weight> make_laplace(double mean, double scale);
std::unique_ptr<Weight> make_student_t(double mean, double scale, double degrees);
std::unique_ptr<Weight> make_histogram(std::vector<double> edges, std::vector<double> masses);

}  // namespace fewbit::solver
