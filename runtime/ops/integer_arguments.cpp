#include "ops/integer_arguments.hpp"

#include <limits>

#include <c10/util/Exception.h>

#include "ops/tensor_arguments.hpp"

namespace fewbit::ops {

namespace {

struct IntegerLimits {
  int64_t lowest;
  int64_t highest;
};

template <class Integer>
constexpr IntegerLimits limits() {
  return {std::numeric_limits<Integer>::min(), std::numeric_limits<Integer>::max()};
}

IntegerLimits limits_of(kernels::IntegerType type) {
  switch (type) {
    case kernels::IntegerType::boolean:
      return {0, 1};
    case kernels::IntegerType::u8:
      return limits<uint8_t>();
    case kernels::IntegerType::i32:
      return limits<int32_t>();
    default:
      return limits<int64_t>();
  }
}

kernels::IntegerType check_type(const char* operation, at::ScalarType type) {
  switch (type) {
    case at::kBool:
      return kernels::IntegerType::boolean;
    case at::kByte:
      return kernels::IntegerType::u8;
    case at::kInt:
      return kernels::IntegerType::i32;
    case at::kLong:
      return kernels::IntegerType::i64;
    default:
      TORCH_CHECK(false, operation, ": a tensor of ", type, ", accepted: bool, uint8, int, long");
  }
}

IntegerFormat check_format(const char* operation, at::ScalarType dtype, int64_t minimum,
                           int64_t bits) {
  const kernels::IntegerType type = check_type(operation, dtype);
  TORCH_CHECK(bits >= 0 && bits <= kernels::kMaxIntegerBits, operation, ": bits is ", bits,
              ", accepted: 0 to ", kernels::kMaxIntegerBits);
  const auto [lowest, highest] = limits_of(type);
  TORCH_CHECK(minimum >= lowest && minimum <= highest, operation, ": minimum is ", minimum,
              ", accepted: ", lowest, " to ", highest);
  const int needed = kernels::integer_bits(minimum, highest);
  TORCH_CHECK(bits <= needed, operation, ": bits is ", bits, " from a minimum of ", minimum,
              ", accepted: 0 to ", needed, ", which reach the type's largest");
  return {type, minimum, static_cast<int>(bits)};
}

std::optional<kernels::ElementType> check_mask_type(const char* operation, at::ScalarType type) {
  if (type == at::kBool) return std::nullopt;
  TORCH_CHECK(
      type == at::kFloat || type == at::kBFloat16 || type == at::kHalf || type == at::kDouble,
      operation, ": a tensor of ", type, ", accepted: bool, float, bfloat16, half, double");
  return check_element_type(operation, type);
}

}  // namespace

IntegerFormat check_integer_encoding(at::DeviceType device, const at::Tensor& x, int64_t minimum,
                                     int64_t bits) {
  check_device(kIntegerEncode, "x", x, device);
  return check_format(kIntegerEncode, x.scalar_type(), minimum, bits);
}

IntegerFormat check_integer_decoding(at::DeviceType device, const at::Tensor& codes,
                                     const c10::SymInt& count, int64_t minimum, int64_t bits,
                                     at::ScalarType dtype) {
  check_device(kIntegerDecode, "codes", codes, device);
  const IntegerFormat format = check_format(kIntegerDecode, dtype, minimum, bits);
  check_count(kIntegerDecode, count);
  check_stream(kIntegerDecode, codes, count, format.bits);
  return format;
}

std::optional<kernels::ElementType> check_sign_encoding(at::DeviceType device,
                                                        const at::Tensor& x) {
  check_device(kSignEncode, "x", x, device);
  return check_mask_type(kSignEncode, x.scalar_type());
}

std::optional<kernels::ElementType> check_sign_decoding(at::DeviceType device,
                                                        const at::Tensor& codes,
                                                        const c10::SymInt& count,
                                                        at::ScalarType dtype) {
  check_device(kSignDecode, "codes", codes, device);
  const auto type = check_mask_type(kSignDecode, dtype);
  check_count(kSignDecode, count);
  check_stream(kSignDecode, codes, count, 1);
  return type;
}

}  // namespace fewbit::ops
