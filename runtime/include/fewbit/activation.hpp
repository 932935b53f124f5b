#pragma once

#include <optional>

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include "fewbit/table.hpp"

/// Activations whose value is exact and whose derivative is kept in few bits per element. All take
/// float, bfloat16, half or double of any shape, keep type, shape and the order of dimensions in
/// memory, and throw c10::Error for anything else. Where no gradient is asked for nothing is kept.
///
/// A NaN in x is a NaN in y. The gradient is the level of x times dy, and +0 where the level is
/// zero, whatever dy is. At a kink f' is that of the piece on its left, and a NaN has the lowest
/// interval's; functions whose derivative is a step function do as torch's own gradients do, to the
/// bit, and where torch's loops disagree about NaN (hardtanh, relu6 and the two that shrink), as
/// the vectorised ones. Double backward and forward-mode differentiation are refused.
namespace fewbit {

/// f(x) of the table's function, its derivative by the table. An unbiased table draws from
/// `generator`, or the device's default one. functional.hpp has each function by its name.
at::Tensor activation(const at::Tensor& x, const Table& table,
                      const std::optional<at::Generator>& generator = std::nullopt);

}  // namespace fewbit
