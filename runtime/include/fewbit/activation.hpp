#pragma once

#include <optional>

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include "fewbit/table.hpp"

/// Activations with exact values, whose derivative is stored in a few bits per element.
///
/// All take float, bfloat16, half or double of any shape. The result has the type, the shape and
/// the order of dimensions in memory of the input. Other inputs throw c10::Error, as do double
/// backward and forward-mode differentiation. Where no gradient is required, nothing is saved.
///
/// - A NaN in x is a NaN in y.
/// - The gradient is dy times the level of x. Where the level is zero it is +0, whatever dy is.
/// - At a kink f' is that of the piece on its left. A NaN has the code of the lowest interval.
/// - Functions whose derivative is a step function have torch's gradients bit for bit. Torch's
///   loops disagree about NaN in hardtanh, relu6, hardshrink and softshrink; there the vectorised
///   loops count.
namespace fewbit {

/// Computes the table's function of x. Backward takes the derivative from the table.
///
/// ```cpp
/// const auto table = fewbit::Table::builtin("gelu", "levels_normal_b3");
/// const at::Tensor y = fewbit::activation(x, table);
/// ```
///
/// generator: source of an unbiased table's random numbers; default: that of x's device.
///
/// Saves ceil(n * bits / 8) bytes for n elements, rounded up to a multiple of 16. functional.hpp
/// has each function by its name.
at::Tensor activation(const at::Tensor& x, const Table& table,
                      const std::optional<at::Generator>& generator = std::nullopt);

}  // namespace fewbit
