#pragma once

#include <optional>
#include <tuple>

#include <ATen/core/Tensor.h>
#include <c10/util/string_view.h>

/// Quantisation in groups (kernels/quantizer/group.hpp; Chen et al., ActNN, ICML 2021), as
/// operations of library `fewbit`, called through torch's dispatcher.
///
///   group_encode(Tensor x, int bits, int group, str rounding, Tensor? seed=None, int offset=0)
///       -> (Tensor codes, Tensor constants)
///   group_decode(Tensor codes, Tensor constants, SymInt count, int bits, int group, str rounding,
///                ScalarType dtype, Tensor? seed=None, int offset=0) -> Tensor
///
/// x: float, bfloat16, half or double of any shape; its n elements are taken in the order in which
/// they lie in memory, or, where they are not dense there, in the order of a dense copy with x's
/// order of strides. bits: 1 to 8; group: elements, a power of two from 64 to 1024; rounding:
/// "nearest", "stochastic", "dithered" or "squares". codes: uint8 [ceil(n * bits / 8) rounded up to
/// 16], element i in the bits [i * bits, (i + 1) * bits). constants: [ceil(n / group), 2] of
/// bfloat16 (of double for double), a group's minimum and half its range. What comes back is flat,
/// [count] of dtype.
///
/// seed: one int64 on x's device, not read where rounding is to nearest; a stream of random numbers
/// is chosen by seed and offset. Decoding takes none, but those of the encoding with "dithered".
/// Not differentiable. Inputs are never changed.
///
/// Checked, with a c10::Error that names operation and argument: types, devices and shapes of all
/// tensors, and the numbers' ranges. Not checked: whether codes and constants are those of one
/// encoding.
namespace fewbit::ops {

std::tuple<at::Tensor, at::Tensor> group_encode(
    const at::Tensor& x, int64_t bits, int64_t group, c10::string_view rounding,
    const std::optional<at::Tensor>& seed = std::nullopt, int64_t offset = 0);

at::Tensor group_decode(const at::Tensor& codes, const at::Tensor& constants, c10::SymInt count,
                        int64_t bits, int64_t group, c10::string_view rounding,
                        at::ScalarType dtype, const std::optional<at::Tensor>& seed = std::nullopt,
                        int64_t offset = 0);

}  // namespace fewbit::ops
