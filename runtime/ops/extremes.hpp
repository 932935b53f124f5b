#pragma once

#include <optional>

#include <ATen/core/Tensor.h>

#include "kernels/quantizer/extremes.hpp"

/// What a flat run on the CPU has of elements that would drown their neighbours: the definitions of
/// kernels/quantizer/extremes.hpp.
namespace fewbit::ops {

using kernels::Fill;
using kernels::kMostExtremes;
using kernels::kNeighbours;

struct Extremes {
  at::Tensor places;   ///< int64 [extremes], rising
  at::Tensor instead;  ///< double [extremes]
};

/// None where the run has none.
std::optional<Extremes> find_extremes(const at::Tensor& run);

std::optional<Fill> find_fill(const at::Tensor& run);

}  // namespace fewbit::ops
