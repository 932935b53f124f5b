#pragma once

#include <cstdint>
#include <vector>

#include "codecs/codec.hpp"

/// What coding does to a run of elements. All squared, over the run's energy.
namespace fewbit::session {

/// How much of the energy of groups is in their greatest elements. Where it is much, rotation makes
/// few values instead of a Gaussian, and 1 or 2 bits lose what is not the greatest.
double share_of_greatest(const at::Tensor& run, int64_t group);

/// The error of what was encoded. The mean is no part of the energy where `is_norm`.
double error_of(const at::Tensor& run, const codecs::Encoded& encoded, bool is_norm);

/// The error of 1 to 8 bits from that of some: as it falls for N(0, 1), or with the square of the
/// steps.
std::vector<double> errors_by_bits(double measured, int bits, bool is_grouped);

}  // namespace fewbit::session
