#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>

#include "ops/integer_arguments.hpp"
#include "ops/layout.hpp"
#include "ops/tensor_arguments.hpp"

// The operations as every device runs them: arguments checked, results allocated, and a device's
// passes between.

namespace fewbit::ops {

/// `Device` has kType and the static functions, of memory on the current device,
///   encode(operation, IntegerFormat, x, codes, count)
///   decode(operation, IntegerFormat, codes, x, count)
///   encode_mask(operation, std::optional<ElementType>, x, codes, count)   without a type: of bool
///   decode_mask(operation, std::optional<ElementType>, codes, x, count)
template <class Device>
struct IntegerOperations {
  static at::Tensor encode(const at::Tensor& x, int64_t minimum, int64_t bits) {
    const IntegerFormat format = check_integer_encoding(Device::kType, x, minimum, bits);
    const c10::DeviceGuard guard(x.device());
    const at::Tensor in = dense(x);
    at::Tensor codes = empty_codes(in.numel(), format.bits, in.options());
    Device::encode(kIntegerEncode, format, in.const_data_ptr(), codes.mutable_data_ptr<uint8_t>(),
                   in.numel());
    return codes;
  }

  static at::Tensor decode(const at::Tensor& codes, int64_t count, int64_t minimum, int64_t bits,
                           at::ScalarType dtype) {
    const IntegerFormat format =
        check_integer_decoding(Device::kType, codes, count, minimum, bits, dtype);
    const c10::DeviceGuard guard(codes.device());
    at::Tensor x = at::empty({count}, codes.options().dtype(dtype));
    Device::decode(kIntegerDecode, format, codes.const_data_ptr<uint8_t>(), x.mutable_data_ptr(),
                   count);
    return x;
  }

  static at::Tensor encode_mask(const at::Tensor& x) {
    const auto type = check_sign_encoding(Device::kType, x);
    const c10::DeviceGuard guard(x.device());
    const at::Tensor in = dense(x);
    at::Tensor codes = empty_codes(in.numel(), 1, in.options());
    Device::encode_mask(kSignEncode, type, in.const_data_ptr(), codes.mutable_data_ptr<uint8_t>(),
                        in.numel());
    return codes;
  }

  static at::Tensor decode_mask(const at::Tensor& codes, int64_t count, at::ScalarType dtype) {
    const auto type = check_sign_decoding(Device::kType, codes, count, dtype);
    const c10::DeviceGuard guard(codes.device());
    at::Tensor x = at::empty({count}, codes.options().dtype(dtype));
    Device::decode_mask(kSignDecode, type, codes.const_data_ptr<uint8_t>(), x.mutable_data_ptr(),
                        count);
    return x;
  }
};

}  // namespace fewbit::ops
