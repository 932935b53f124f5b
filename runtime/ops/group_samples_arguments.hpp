#pragma once

#include <string>
#include <vector>

#include "ops/group_arguments.hpp"

/// Checks of the arguments of group_encode_samples and group_decode_samples, the same on every
/// device and without one. All throw c10::Error naming the operation, the argument, what was seen
/// and what is accepted.
namespace fewbit::ops {

inline constexpr const char* kSamplesEncode = "fewbit::group_encode_samples";
inline constexpr const char* kSamplesDecode = "fewbit::group_decode_samples";

/// Bits by sample, but for their values, on the device of `beside`.
void check_sample_bits(const char* operation, const at::Tensor& bits, const at::Tensor& beside);

/// What there is to encode: the format but for bits, and the elements of each sample.
struct SampleRun {
  kernels::GroupFormat format;
  c10::SymInt count;
};

/// All that is known without the values of bits, `device` being the kernels' own.
SampleRun check_sample_encoding(at::DeviceType device, const at::Tensor& x, const at::Tensor& bits,
                                int64_t group, c10::string_view rounding,
                                const std::optional<at::Tensor>& seed, int64_t offset);
kernels::GroupFormat check_sample_decoding(at::DeviceType device, const at::Tensor& codes,
                                           const at::Tensor& constants, const at::Tensor& bits,
                                           const c10::SymInt& count, int64_t group,
                                           c10::string_view rounding, at::ScalarType dtype,
                                           const std::optional<at::Tensor>& seed, int64_t offset);

/// Groups of all samples.
c10::SymInt sample_group_count(const at::Tensor& bits, const c10::SymInt& count, int64_t group);

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
