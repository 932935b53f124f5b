#pragma once

#include <optional>
#include <string>
#include <tuple>

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include "fewbit/table.hpp"

/// The operations of library `fewbit`, called through torch's dispatcher.
///
///   activation(Tensor x, str function, float[] parameters, Tensor thresholds,
///              Tensor interval_codes, Tensor levels, bool even=False, *, Generator?
///              generator=None)
///       -> Tensor                     f(x); differentiable, keeps codes and levels only
///   activation.builtin(Tensor x, str function, str table, *, Generator? generator=None) -> Tensor
///                                     the same with a table that comes with the library; not for
///                                     a torch.compile of Python, whose traces hold no such table
///   activation_forward(same) -> (Tensor y, Tensor codes)
///   activation_value(Tensor x, str function, float[] parameters) -> Tensor
///   activation_backward(Tensor dy, Tensor codes, Tensor levels) -> Tensor
///
/// x: float, bfloat16, half or double of any shape and strides; y has its type and shape, and is
/// laid out as torch lays out its own: dense, dimensions in the order of x's strides. codes: uint8
/// [ceil(n * bits / 8) rounded up to 16], element i of y's memory in the bits [i * bits, (i + 1) *
/// bits). dy must lie in memory as y does.
/// thresholds: float32 [m - 1], interval_codes: uint8 [m], or [m + 1] where the last is the code of
/// a NaN, which otherwise has that of the lowest interval, levels: float32 [k]; for double x
/// thresholds and levels may both be float64. Where a level is zero the gradient is +0 whatever dy.
/// A table without thresholds is of the unbiased form and draws from `generator` (the device's
/// default where there is none) once per call; on CUDA not while a graph is captured. Inputs are
/// never changed. x, y, dy, dx and codes are on one device, a table's tensors always on the CPU, so
/// that no call has to wait for a device; on CUDA the passes run on the current stream.
///
/// Checked, with a c10::Error that names operation and argument: types, devices and shapes of all
/// tensors; that the table's counts agree and its codes name levels; the function's name and number
/// of parameters; the length of `codes`. Not checked: whether the table is one of this function
/// with these parameters, which its tensors do not say; Table and activation.builtin know, and
/// refuse. Nor the order of thresholds and levels, which Table checks.
namespace fewbit::ops {

using Parameters = at::ArrayRef<double>;

at::Tensor activation(const at::Tensor& x, const Table& table,
                      const std::optional<at::Generator>& generator = std::nullopt);

std::tuple<at::Tensor, at::Tensor> activation_forward(
    const at::Tensor& x, const std::string& function, Parameters parameters,
    const at::Tensor& thresholds, const at::Tensor& interval_codes, const at::Tensor& levels,
    bool even, const std::optional<at::Generator>& generator);

at::Tensor activation_value(const at::Tensor& x, const std::string& function,
                            Parameters parameters);

at::Tensor activation_backward(const at::Tensor& dy, const at::Tensor& codes,
                               const at::Tensor& levels);

/// Whether the operations have kernels for the device: the CPU and meta always, CUDA where it was
/// built.
bool runs_on(at::DeviceType device);

/// Bytes of the codes of so many elements.
int64_t code_bytes(int64_t elements, int bits);

}  // namespace fewbit::ops
