#pragma once

#include <optional>
#include <string>

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include "fewbit/bits.hpp"
#include "fewbit/table.hpp"

/// Activations whose value is exact and whose derivative is kept in few bits per element. All take
/// float, bfloat16, half or double of any shape, keep type, shape and the order of dimensions in
/// memory, and throw c10::Error for anything else. Where no gradient is asked for nothing is kept.
///
/// A NaN in x is a NaN in y. The gradient is the level of x times dy, and +0 where the level is
/// zero, whatever dy is. At a kink f' is that of the piece on its left, and a NaN has the lowest
/// interval's; the eight functions at the end do as torch's own gradients do, to the bit, and where
/// torch's loops disagree about NaN (hardtanh, relu6 and the two that shrink), as the vectorised
/// ones. Double backward and forward-mode differentiation are refused.
namespace fewbit {

/// f(x) of the table's function, its derivative by the table. An unbiased table draws from
/// `generator`, or the device's default one.
at::Tensor activation(const at::Tensor& x, const Table& table,
                      const std::optional<at::Generator>& generator = std::nullopt);

/// With the default table for so many bits.
at::Tensor celu(const at::Tensor& x, Bits bits, double alpha = 1.0);
at::Tensor elu(const at::Tensor& x, Bits bits, double alpha = 1.0);
at::Tensor gelu(const at::Tensor& x, Bits bits, const std::string& approximate = "none");
at::Tensor hardswish(const at::Tensor& x, Bits bits);
at::Tensor log_sigmoid(const at::Tensor& x, Bits bits);
at::Tensor mish(const at::Tensor& x, Bits bits);
at::Tensor quick_gelu(const at::Tensor& x, Bits bits);
at::Tensor relu_squared(const at::Tensor& x, Bits bits);
at::Tensor selu(const at::Tensor& x, Bits bits);
at::Tensor sigmoid(const at::Tensor& x, Bits bits);
at::Tensor silu(const at::Tensor& x, Bits bits, double beta = 1.0);
at::Tensor softplus(const at::Tensor& x, Bits bits, double beta = 1.0, double threshold = 20.0);
at::Tensor softsign(const at::Tensor& x, Bits bits);
at::Tensor tanh(const at::Tensor& x, Bits bits);
at::Tensor tanhshrink(const at::Tensor& x, Bits bits);

/// Their derivative is a step function: exact, in one bit, and torch's own to the bit.
at::Tensor hardshrink(const at::Tensor& x, double lambda = 0.5);
at::Tensor hardsigmoid(const at::Tensor& x);
at::Tensor hardtanh(const at::Tensor& x, double min = -1.0, double max = 1.0);
at::Tensor leaky_relu(const at::Tensor& x, double negative_slope = 0.01);
at::Tensor relu(const at::Tensor& x);
at::Tensor relu6(const at::Tensor& x);
at::Tensor softshrink(const at::Tensor& x, double lambda = 0.5);
at::Tensor threshold(const at::Tensor& x, double threshold, double value);

}  // namespace fewbit
