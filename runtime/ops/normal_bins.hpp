#pragma once

#include <ATen/core/Tensor.h>

/// Codes of a norm's input in equal bins of u = (x - mean) / deviation * sign, 2^bits of them from
/// -3 to 3 (kernels/quantizer/normal_bins.hpp). The norm's output is a multiple of u + ratio that
/// is not negative: an edge lies where it is 0, and every bin on its side of it, as long as one bin
/// is left on each side; else all codes but one are of one sign and lie about 0. One pass each, by
/// operations of library `fewbit`, of elements in the order of memory; doubles by torch's.
///
///   normal_bins_encode(Tensor x, Tensor statistics, int statistics_run, Tensor weights,
///                      int weights_run, int bits) -> Tensor
///   normal_bins_decode(Tensor codes, SymInt count, Tensor statistics, int statistics_run,
///                      Tensor weights, int weights_run, int bits, ScalarType dtype) -> Tensor
///
/// statistics: float [2, n], means and what is multiplied by, deviations or 1 over these; weights:
/// float [4, n], of u the sign, the zero, where the first bin begins and the first code that is not
/// negative. Element i has those of column i / run % n.
namespace fewbit::ops {

/// Shaped to broadcast with x; of the type that is computed in, double for doubles, else float.
struct NormNumbers {
  at::Tensor mean, deviation;
  at::Tensor sign;   ///< of the weight
  at::Tensor ratio;  ///< bias / |weight|
};

/// x: dense, float, bfloat16, half or double, of one element at least. uint8, as integer_encode
/// gives them, in the order of x's memory. A NaN has code 0.
at::Tensor normal_bins_encode(const at::Tensor& x, const NormNumbers& numbers, int bits);

/// Of dense elements in those sizes and strides: the middles of their bins, but at least half a bin
/// from where the output is 0.
at::Tensor normal_bins_decode(const at::Tensor& codes, at::IntArrayRef sizes,
                              at::IntArrayRef strides, at::ScalarType dtype,
                              const NormNumbers& numbers, int bits);

}  // namespace fewbit::ops
