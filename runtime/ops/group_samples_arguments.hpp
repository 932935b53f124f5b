#pragma once

#include <string>
#include <vector>

#include "ops/group_arguments.hpp"

/// Checks of the arguments of group_encode_samples and group_decode_samples, the same on every
/// device. All throw c10::Error naming the operation, the argument, what was seen and what is
/// accepted.
namespace fewbit::ops {

/// Bits by sample, but for their values, on the device of `beside`.
void check_sample_bits(const char* operation, const at::Tensor& bits, const at::Tensor& beside);

/// As many samples in x as there are bits; the elements of each.
c10::SymInt check_samples(const char* operation, const at::Tensor& x, const at::Tensor& bits);

/// The format but for bits and random numbers: check_group.
kernels::GroupFormat check_sample_group(const char* operation, Draws* draws,
                                        kernels::ElementType type, int64_t group,
                                        c10::string_view rounding,
                                        const std::optional<at::Tensor>& seed, int64_t offset,
                                        const at::Tensor& beside);

/// Groups of all samples.
c10::SymInt sample_group_count(const at::Tensor& bits, const c10::SymInt& count, int64_t group);

/// Codes and constants of samples of `count` elements, but for the number of codes.
void check_encoded_samples(const char* operation, const kernels::GroupFormat& format,
                           const at::Tensor& codes, const at::Tensor& constants,
                           const at::Tensor& bits, const c10::SymInt& count);

/// kernels::code_offsets of bits on a CPU, whose values are checked.
std::vector<int64_t> sample_offsets(const char* operation, const at::Tensor& bits, int64_t count);

/// The same as a tensor, int64 [bits.numel() + 1]; that all codes take so many bytes is checked as
/// well. seen: "bytes is 32".
at::Tensor check_sample_bytes(const char* operation, const std::string& seen, int64_t bytes,
                              const at::Tensor& bits, int64_t count);

/// The same of bits on any device, without waiting for it: torch's _assert_async checks.
at::Tensor check_sample_bytes_later(const char* operation, const std::string& seen, int64_t bytes,
                                    const at::Tensor& bits, int64_t count);

}  // namespace fewbit::ops
