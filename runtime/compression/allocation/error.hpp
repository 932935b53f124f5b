#pragma once

#include <functional>
#include <vector>

#include <ATen/core/Tensor.h>

/// What coding does to a run of elements. All squared, over the run's energy.
namespace fewbit::session {

/// The error of what came back, flat as run lies in memory. The mean is no part of the energy where
/// `is_norm`.
double error_of(const at::Tensor& run, const at::Tensor& decoded, bool is_norm);

/// The median over groups of 256 elements, in the order of memory, of each one's squared error over
/// its energy: what most groups have where a few hold most of the run's energy.
double median_error_of(const at::Tensor& run, const at::Tensor& decoded, bool is_norm);

/// The error of 1 to 8 bits from that of some: as `expected` falls, the error of so many bits by
/// the book.
std::vector<double> errors_by_bits(double measured, int bits,
                                   const std::function<double(int bits)>& expected);

}  // namespace fewbit::session
