#pragma once

#include <tuple>

#include <c10/util/StringUtil.h>

#include "kernels/quantizer/group_samples.hpp"
#include "ops/group_passes.hpp"
#include "ops/group_samples.hpp"
#include "ops/group_samples_arguments.hpp"

// The operations as every device runs them: arguments checked, results allocated, and a device's
// passes between.

namespace fewbit::ops {

/// `Device` has kType and the static functions, with the seed in the device's memory or null,
///   offsets(operation, seen, bytes, bits, count)   kernels::code_offsets, as checked as it can be
///   encode(operation, GroupFormat, seed, Samples, GroupEncodeMemory)   memory of the first sample
///   decode(operation, GroupFormat, seed, Samples, GroupDecodeMemory)
template <class Device>
struct SampleOperations {
  static std::tuple<at::Tensor, at::Tensor> encode(const at::Tensor& x, const at::Tensor& bits,
                                                   int64_t bytes, int64_t group,
                                                   c10::string_view rounding,
                                                   const std::optional<at::Tensor>& seed,
                                                   int64_t offset) {
    const auto [format, samples] =
        check_sample_encoding(Device::kType, x, bits, group, rounding, seed, offset);
    const int64_t count = samples.expect_int();
    const c10::DeviceGuard guard(x.device());
    const at::Tensor offsets =
        Device::offsets(kSamplesEncode, c10::str("bytes is ", bytes), bytes, bits, count);
    const at::Tensor in = in_order(x);
    at::Tensor codes = at::empty({bytes}, in.options().dtype(at::kByte));
    at::Tensor constants =
        empty_constants(sample_group_count(bits, count, group), format.type, in.options());
    Device::encode(kSamplesEncode, format, seed_of(kernels::encoding_draws(format.rounding), seed),
                   samples_of(bits, offsets, count),
                   {in.const_data_ptr(), codes.mutable_data_ptr<uint8_t>(),
                    static_cast<uint8_t*>(constants.mutable_data_ptr()), count});
    return {codes, constants};
  }

  static at::Tensor decode(const at::Tensor& codes, const at::Tensor& constants,
                           const at::Tensor& bits, int64_t count, int64_t group,
                           c10::string_view rounding, at::ScalarType dtype,
                           const std::optional<at::Tensor>& seed, int64_t offset) {
    const kernels::GroupFormat format = check_sample_decoding(
        Device::kType, codes, constants, bits, count, group, rounding, dtype, seed, offset);
    const c10::DeviceGuard guard(codes.device());
    const at::Tensor offsets =
        Device::offsets(kSamplesDecode, c10::str("codes has ", codes.numel(), " bytes"),
                        codes.numel(), bits, count);
    at::Tensor x = at::empty({bits.numel(), count}, codes.options().dtype(dtype));
    Device::decode(kSamplesDecode, format, seed_of(kernels::decoding_draws(format.rounding), seed),
                   samples_of(bits, offsets, count),
                   {x.mutable_data_ptr(), codes.const_data_ptr<uint8_t>(),
                    static_cast<const uint8_t*>(constants.const_data_ptr()), count});
    return x;
  }

 private:
  static kernels::Samples samples_of(const at::Tensor& bits, const at::Tensor& offsets,
                                     int64_t count) {
    return {bits.const_data_ptr<uint8_t>(), offsets.const_data_ptr<int64_t>(), bits.numel(), count};
  }

  static at::Tensor in_order(const at::Tensor& x) {
    const at::Tensor in = dense(x);
    return has_samples_in_order(in) ? in : x.contiguous();
  }
};

}  // namespace fewbit::ops
