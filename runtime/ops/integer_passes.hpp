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

/// How integers are coded.
struct IntegerFormat {
  kernels::IntegerType type;
  int64_t minimum;
  int bits;
};

/// `Device` has kType and the static functions, of memory on the current device,
///   encode(operation, IntegerFormat, x, codes, count)
///   decode(operation, IntegerFormat, codes, x, count)
///   encode_mask(operation, std::optional<ElementType>, x, codes, count)   without a type: of bool
///   decode_mask(operation, std::optional<ElementType>, codes, x, count)
template <class Device>
struct IntegerOperations {
  static at::Tensor encode(const at::Tensor& x, int64_t minimum, int64_t bits) {
    constexpr const char* kName = "fewbit::integer_encode";
    check_device(kName, "x", x, Device::kType);
    const kernels::IntegerType type = check_integer_type(kName, x.scalar_type());
    const IntegerFormat format{type, minimum, check_integer_bits(kName, type, minimum, bits)};
    const c10::DeviceGuard guard(x.device());
    const at::Tensor in = dense(x);
    at::Tensor codes = codes_of(in, format.bits);
    Device::encode(kName, format, in.const_data_ptr(), codes.mutable_data_ptr<uint8_t>(),
                   in.numel());
    return codes;
  }

  static at::Tensor decode(const at::Tensor& codes, int64_t count, int64_t minimum, int64_t bits,
                           at::ScalarType dtype) {
    constexpr const char* kName = "fewbit::integer_decode";
    check_device(kName, "codes", codes, Device::kType);
    const kernels::IntegerType type = check_integer_type(kName, dtype);
    const IntegerFormat format{type, minimum, check_integer_bits(kName, type, minimum, bits)};
    check_count(kName, count);
    check_stream(kName, codes, count, format.bits);
    const c10::DeviceGuard guard(codes.device());
    at::Tensor x = at::empty({count}, codes.options().dtype(dtype));
    Device::decode(kName, format, codes.const_data_ptr<uint8_t>(), x.mutable_data_ptr(), count);
    return x;
  }

  static at::Tensor encode_mask(const at::Tensor& x) {
    constexpr const char* kName = "fewbit::sign_encode";
    check_device(kName, "x", x, Device::kType);
    const auto type = check_mask_type(kName, x.scalar_type());
    const c10::DeviceGuard guard(x.device());
    const at::Tensor in = dense(x);
    at::Tensor codes = codes_of(in, 1);
    Device::encode_mask(kName, type, in.const_data_ptr(), codes.mutable_data_ptr<uint8_t>(),
                        in.numel());
    return codes;
  }

  static at::Tensor decode_mask(const at::Tensor& codes, int64_t count, at::ScalarType dtype) {
    constexpr const char* kName = "fewbit::sign_decode";
    check_device(kName, "codes", codes, Device::kType);
    const auto type = check_mask_type(kName, dtype);
    check_count(kName, count);
    check_stream(kName, codes, count, 1);
    const c10::DeviceGuard guard(codes.device());
    at::Tensor x = at::empty({count}, codes.options().dtype(dtype));
    Device::decode_mask(kName, type, codes.const_data_ptr<uint8_t>(), x.mutable_data_ptr(), count);
    return x;
  }

 private:
  static at::Tensor codes_of(const at::Tensor& x, int bits) {
    return at::empty({kernels::code_bytes(x.numel(), bits)}, x.options().dtype(at::kByte));
  }
};

}  // namespace fewbit::ops
