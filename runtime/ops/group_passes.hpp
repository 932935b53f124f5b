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

/// Where a pass finds its elements and what they are kept as, on the current device.
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
    constexpr const char* kName = "fewbit::group_encode";
    check_device(kName, "x", x, Device::kType);
    const kernels::ElementType type = check_element_type(kName, x);
    const kernels::GroupFormat format =
        check_group(kName, kernels::encoding_draws, type, {bits, group, rounding, seed, offset}, x);
    const c10::DeviceGuard guard(x.device());
    const at::Tensor in = dense(x);
    const int64_t count = in.numel();
    at::Tensor codes =
        at::empty({kernels::code_bytes(count, format.bits)}, in.options().dtype(at::kByte));
    at::Tensor constants = at::empty({kernels::group_count(count, group), 2},
                                     in.options().dtype(constants_type(type)));
    Device::encode(kName, format, seed_of(kernels::encoding_draws(format.rounding), seed),
                   {in.const_data_ptr(), codes.mutable_data_ptr<uint8_t>(),
                    static_cast<uint8_t*>(constants.mutable_data_ptr()), count});
    return {codes, constants};
  }

  static at::Tensor decode(const at::Tensor& codes, const at::Tensor& constants, int64_t count,
                           int64_t bits, int64_t group, c10::string_view rounding,
                           at::ScalarType dtype, const std::optional<at::Tensor>& seed,
                           int64_t offset) {
    constexpr const char* kName = "fewbit::group_decode";
    check_device(kName, "codes", codes, Device::kType);
    const kernels::ElementType type = check_element_type(kName, dtype);
    const kernels::GroupFormat format = check_group(kName, kernels::decoding_draws, type,
                                                    {bits, group, rounding, seed, offset}, codes);
    check_count(kName, count);
    check_encoded(kName, format, codes, constants, count);
    const c10::DeviceGuard guard(codes.device());
    at::Tensor x = at::empty({count}, codes.options().dtype(dtype));
    Device::decode(kName, format, seed_of(kernels::decoding_draws(format.rounding), seed),
                   {x.mutable_data_ptr(), codes.const_data_ptr<uint8_t>(),
                    static_cast<const uint8_t*>(constants.const_data_ptr()), count});
    return x;
  }
};

}  // namespace fewbit::ops
