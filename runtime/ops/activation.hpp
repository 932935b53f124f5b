#pragma once

#include <optional>
#include <string>
#include <tuple>

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include "fewbit/table.hpp"
#include "ops/activation_arguments.hpp"

/// The operations of library `fewbit`, called through torch's dispatcher.
///
///   activation(Tensor x, str function, float[] parameters, float[] thresholds, int[] codes,
///              float[] levels, bool even=False, Tensor? seed=None, bool in_place=False,
///              bool codes_first=False)
///       -> Tensor                     f(x); differentiable, saves the codes and no other tensor
///   activation.builtin(Tensor x, str function, str table, Tensor? seed=None) -> Tensor
///                                     the same with a table that comes with the library
///   activation_forward(as activation) -> (Tensor y, Tensor codes)
///   activation_value(Tensor x, str function, float[] parameters) -> Tensor
///   activation_backward(Tensor dy, Tensor codes, float[] levels) -> Tensor
///   activation_backward_(Tensor(a!) dy, Tensor codes, float[] levels) -> ()
///
/// x: float, bfloat16, half or double of any shape and strides; y has its type and shape, and is
/// laid out as torch lays out its own: dense, dimensions in the order of x's strides. The stream of
/// codes: uint8 [ceil(n * bits / 8) rounded up to 16], element i of y's memory in the bits
/// [i * bits, (i + 1) * bits). dy must lie in memory as y does.
///
/// thresholds: m - 1 numbers, ascending; codes: of the m intervals, and one more where the code of
/// a NaN is not that of the lowest interval; levels: k, 2 to 256. For types other than double all
/// numbers are floats' (a double's extra digits are rounded off). Where a level is zero the
/// gradient is +0 whatever dy. A table without thresholds is of the unbiased form and takes its
/// random numbers from `seed`, one int64 on x's device: the same seed gives the same codes.
/// activation.builtin draws one where none is given. in_place: that the caller writes y over x,
/// which says what may stand for the codes (exact_gradient.hpp) and nothing else. codes_first: that
/// hooks on saved tensors have the codes before y takes memory, at the price of a second pass over
/// x; not where x is not dense or the table of the unbiased form. Inputs are never changed. x, y,
/// dy, dx, codes and seed are on one device, so that no call has to wait for a device; on CUDA the
/// passes run on the current stream and may be captured.
///
/// Checked, with a c10::Error that names operation and argument: types, devices and shapes of all
/// tensors; that the table's counts agree and its codes name levels; the function's name and number
/// of parameters; the length of `codes`. Not checked: whether the table is one of this function
/// with these parameters, which its numbers do not say; Table and activation.builtin know, and
/// refuse. Nor the order of thresholds and levels, which Table checks.
namespace fewbit::ops {

/// A table of the unbiased form draws a seed from `generator`, or the device's default one.
at::Tensor activation(const at::Tensor& x, const Table& table,
                      const std::optional<at::Generator>& generator = std::nullopt,
                      ActivationRun run = {});

std::tuple<at::Tensor, at::Tensor> activation_forward(const at::Tensor& x,
                                                      const ActivationArguments& arguments);

at::Tensor activation_value(const at::Tensor& x, c10::string_view function, Numbers parameters);

at::Tensor activation_backward(const at::Tensor& dy, const at::Tensor& codes, Numbers levels);
/// Into dy's memory, which is dense.
void activation_backward_(const at::Tensor& dy, const at::Tensor& codes, Numbers levels);

/// A table as the operations take it for x of a type. Points into the table.
ActivationArguments arguments_of(const Table& table, at::ScalarType type,
                                 const std::optional<at::Tensor>& seed = std::nullopt);

/// Whether the operations have kernels for the device: the CPU and meta always, CUDA where it was
/// built.
bool runs_on(at::DeviceType device);

/// Bytes of the codes of so many elements.
int64_t code_bytes(int64_t elements, int bits);

}  // namespace fewbit::ops
