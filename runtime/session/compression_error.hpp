#pragma once

#include <functional>
#include <vector>

#include "codecs/codec.hpp"

/// What coding does to a run of elements. All squared, over the run's energy.
namespace fewbit::session {

/// The error of what was encoded. The mean is no part of the energy where `is_norm`.
double error_of(const at::Tensor& run, const codecs::Encoded& encoded, bool is_norm);

/// The error of 1 to 8 bits from that of some: as `expected` falls, the error of so many bits by
/// the book.
std::vector<double> errors_by_bits(double measured, int bits,
                                   const std::function<double(int bits)>& expected);

}  // namespace fewbit::session
