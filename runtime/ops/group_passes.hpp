#pragma once

#include <tuple>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>

#include "ops/group_arguments.hpp"
#include "ops/layout.hpp"
#include "ops/tensor_arguments.hpp"

// The operations as every device runs them: arguments checked, results allocated, and a device's
// passes between.

namespace fewbit::ops {

/// Where a pass finds its elements and what they are stored as, on the current device.
template <class Elements, class Bytes>
struct GroupMemory {
  Elements* elements;
  Bytes* codes;
  Bytes* constants;
  int64_t count;
};
using GroupEncodeMemory = GroupMemory<const void, uint8_t>;
using GroupDecodeMemory = GroupMemory<void, const uint8_t>;

/// In the device's memory; null where no random numbers are drawn.
inline const int64_t* seed_of(bool draws, const std::optional<at::Tensor>& seed) {
  return draws ? seed->const_data_ptr<int64_t>() : nullptr;
}

/// `Device` has kType and the static functions, with the seed in the device's memory or null,
///   encode(operation, GroupFormat, seed, GroupEncodeMemory)
///   decode(operation, GroupFormat, seed, GroupDecodeMemory)
template <class Device>
struct GroupOperations {
  static std::tuple<at::Tensor, at::Tensor> encode(const at::Tensor& x, int64_t bits, int64_t group,
                                                   c10::string_view rounding,
                                                   const std::optional<at::Tensor>& seed,
                                                   int64_t offset) {
    const kernels::GroupFormat format =
        check_group_encoding(Device::kType, x, {bits, group, rounding, seed, offset});
    const c10::DeviceGuard guard(x.device());
    const at::Tensor in = dense(x);
    const int64_t count = in.numel();
    at::Tensor codes = empty_codes(count, format.bits, in.options());
    at::Tensor constants = empty_constants(group_count(count, group), format.type, in.options());
    Device::encode(kGroupEncode, format, seed_of(kernels::encoding_draws(format.rounding), seed),
                   {in.const_data_ptr(), codes.mutable_data_ptr<uint8_t>(),
                    static_cast<uint8_t*>(constants.mutable_data_ptr()), count});
    return {codes, constants};
  }

  static at::Tensor decode(const at::Tensor& codes, const at::Tensor& constants, int64_t count,
                           int64_t bits, int64_t group, c10::string_view rounding,
                           at::ScalarType dtype, const std::optional<at::Tensor>& seed,
                           int64_t offset) {
    const kernels::GroupFormat format = check_group_decoding(
        Device::kType, codes, constants, count, {bits, group, rounding, seed, offset}, dtype);
    const c10::DeviceGuard guard(codes.device());
    at::Tensor x = at::empty({count}, codes.options().dtype(dtype));
    Device::decode(kGroupDecode, format, seed_of(kernels::decoding_draws(format.rounding), seed),
                   {x.mutable_data_ptr(), codes.const_data_ptr<uint8_t>(),
                    static_cast<const uint8_t*>(constants.const_data_ptr()), count});
    return x;
  }
};

}  // namespace fewbit::ops
