#pragma once

#include <optional>

#include <ATen/core/Tensor.h>

#include "kernels/quantizer/integers.hpp"

/// Checks of the arguments of the operations of ops/integers.hpp, the same on every device and
/// without one. All throw c10::Error naming the operation, the argument, what was seen and what is
/// accepted.
namespace fewbit::ops {

inline constexpr const char* kIntegerEncode = "fewbit::integer_encode";
inline constexpr const char* kIntegerDecode = "fewbit::integer_decode";
inline constexpr const char* kSignEncode = "fewbit::sign_encode";
inline constexpr const char* kSignDecode = "fewbit::sign_decode";

/// How integers are coded.
struct IntegerFormat {
  kernels::IntegerType type;
  int64_t minimum;
  int bits;
};

/// That all codes from the minimum on lie in the type, too: of `bits` bits no more than it takes
/// for the type's largest. `device` is the kernels' own.
IntegerFormat check_integer_encoding(at::DeviceType device, const at::Tensor& x, int64_t minimum,
                                     int64_t bits);
IntegerFormat check_integer_decoding(at::DeviceType device, const at::Tensor& codes,
                                     const c10::SymInt& count, int64_t minimum, int64_t bits,
                                     at::ScalarType dtype);

/// Nothing for bool.
std::optional<kernels::ElementType> check_sign_encoding(at::DeviceType device, const at::Tensor& x);
std::optional<kernels::ElementType> check_sign_decoding(at::DeviceType device,
                                                        const at::Tensor& codes,
                                                        const c10::SymInt& count,
                                                        at::ScalarType dtype);

}  // namespace fewbit::ops
