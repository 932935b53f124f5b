#pragma once

#include <optional>
#include <tuple>

#include <ATen/core/Tensor.h>
#include <c10/util/string_view.h>

/// Uniform quantisation in groups with bits by sample (kernels/quantizer/group_samples.hpp; Chen et
/// al., ActNN, ICML 2021), as operations of library `fewbit`, called through torch's dispatcher.
///
///   group_encode_samples(Tensor x, Tensor bits, SymInt bytes, int group, str rounding,
///                        Tensor? seed=None, int offset=0) -> (Tensor codes, Tensor constants)
///   group_decode_samples(Tensor codes, Tensor constants, Tensor bits, SymInt count, int group,
///                        str rounding, ScalarType dtype, Tensor? seed=None, int offset=0)
///       -> Tensor
///
/// x: float, bfloat16, half or double [N, ...]; a sample's `count` elements are taken in the order
/// of memory, or, where the samples are not one after the other there, in the order of indices.
/// bits: uint8 [N] on x's device, 1 to 8 each; bytes: of all codes, group_sample_bytes, given since
/// sizes are to be known without looking at bits. codes: uint8 [bytes], sample by sample as
/// group_encode gives them, each a multiple of 16; constants: [N * ceil(count / group), 2] of
/// bfloat16 (of double for double). What comes back is [N, count] of dtype.
///
/// Group, rounding, seed and offset are those of ops/group.hpp; sample n has the random numbers of
/// the offset + n * 2^32. Not differentiable. Inputs are never changed.
///
/// Checked, with a c10::Error that names operation and argument: types, devices and shapes of all
/// tensors, and the numbers' ranges; bits and their bytes on a CPU; a CUDA device asserts them
/// itself (torch's _assert_async). Not checked: whether codes and constants are those of one
/// encoding.
namespace fewbit::ops {

std::tuple<at::Tensor, at::Tensor> group_encode_samples(
    const at::Tensor& x, const at::Tensor& bits, c10::SymInt bytes, int64_t group,
    c10::string_view rounding, const std::optional<at::Tensor>& seed = std::nullopt,
    int64_t offset = 0);

at::Tensor group_decode_samples(const at::Tensor& codes, const at::Tensor& constants,
                                const at::Tensor& bits, c10::SymInt count, int64_t group,
                                c10::string_view rounding, at::ScalarType dtype,
                                const std::optional<at::Tensor>& seed = std::nullopt,
                                int64_t offset = 0);

/// Bytes of the codes of samples of `count` elements. bits: as above, on a CPU.
int64_t group_sample_bytes(const at::Tensor& bits, int64_t count);

/// Whether the samples of a dense tensor are one after the other in memory.
bool has_samples_in_order(const at::Tensor& x);

}  // namespace fewbit::ops
