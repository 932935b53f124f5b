#include "ops/group_arguments.hpp"

#include <bit>

#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>

#include "ops/tensor_arguments.hpp"

namespace fewbit::ops {

namespace {

kernels::Rounding check_rounding(const char* operation, c10::string_view rounding) {
  if (rounding == "nearest") return kernels::Rounding::nearest;
  if (rounding == "stochastic") return kernels::Rounding::stochastic;
  if (rounding == "dithered") return kernels::Rounding::dithered;
  TORCH_CHECK(rounding == "squares", operation, ": rounding is '", rounding,
              "', accepted: nearest, stochastic, dithered, squares");
  return kernels::Rounding::squares;
}

}  // namespace

void check_bits_and_group(const char* operation, int64_t bits, int64_t group) {
  TORCH_CHECK(bits >= 1 && bits <= 8, operation, ": bits is ", bits, ", accepted: 1 to 8");
  TORCH_CHECK(group >= kernels::kMinGroup && group <= kernels::kMaxGroup &&
                  std::has_single_bit(static_cast<uint64_t>(group)),
              operation, ": group is ", group, ", accepted: a power of two from ",
              kernels::kMinGroup, " to ", kernels::kMaxGroup);
}

kernels::GroupFormat check_group(const char* operation, Draws* draws, kernels::ElementType type,
                                 const GroupArguments& arguments, const at::Tensor& beside) {
  const auto [bits, group, rounding, seed, offset] = arguments;
  check_bits_and_group(operation, bits, group);
  const kernels::Rounding chosen = check_rounding(operation, rounding);
  if (draws(chosen)) {
    TORCH_CHECK(seed.has_value(), operation, ": rounding '", rounding,
                "' takes a seed, one int64 on ", beside.device());
    check_seed(operation, seed, beside);
  }
  return {type, static_cast<int>(bits), group, chosen, {0, static_cast<uint64_t>(offset)}};
}

at::ScalarType constants_type(kernels::ElementType type) {
  return type == kernels::ElementType::f64 ? at::kDouble : at::kBFloat16;
}

c10::SymInt group_count(const c10::SymInt& count, int64_t group) {
  return (count + (group - 1)) / group;
}

void check_constants(const char* operation, const at::Tensor& codes, const at::Tensor& constants,
                     const c10::SymInt& groups, kernels::ElementType element) {
  TORCH_CHECK(constants.device() == codes.device(), operation, ": constants is on ",
              constants.device(), ", but codes on ", codes.device());
  const at::ScalarType type = constants_type(element);
  TORCH_CHECK(constants.scalar_type() == type && constants.is_contiguous() &&
                  constants.dim() == 2 && constants.sym_size(1) == 2 &&
                  constants.sym_size(0) == groups,
              operation, ": constants is ", constants.sym_sizes(), " of ", constants.scalar_type(),
              ", accepted: contiguous [", groups, ", 2] of ", type);
}

kernels::GroupFormat check_group_encoding(at::DeviceType device, const at::Tensor& x,
                                          const GroupArguments& arguments) {
  check_device(kGroupEncode, "x", x, device);
  const kernels::ElementType type = check_element_type(kGroupEncode, x);
  return check_group(kGroupEncode, kernels::encoding_draws, type, arguments, x);
}

kernels::GroupFormat check_group_decoding(at::DeviceType device, const at::Tensor& codes,
                                          const at::Tensor& constants, const c10::SymInt& count,
                                          const GroupArguments& arguments, at::ScalarType dtype) {
  check_device(kGroupDecode, "codes", codes, device);
  const kernels::ElementType type = check_element_type(kGroupDecode, dtype);
  const kernels::GroupFormat format =
      check_group(kGroupDecode, kernels::decoding_draws, type, arguments, codes);
  check_count(kGroupDecode, count);
  check_stream(kGroupDecode, codes, count, format.bits);
  check_constants(kGroupDecode, codes, constants, group_count(count, format.group), type);
  return format;
}

at::Tensor empty_constants(const c10::SymInt& groups, kernels::ElementType type,
                           const at::TensorOptions& options) {
  return at::empty_symint({groups, 2}, options.dtype(constants_type(type)));
}

}  // namespace fewbit::ops
