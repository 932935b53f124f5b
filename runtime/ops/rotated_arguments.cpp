#include "ops/rotated_arguments.hpp"

#include "ops/group_arguments.hpp"
#include "ops/tensor_arguments.hpp"

namespace fewbit::ops {

void check_codes(const char* operation, const RotatedCodes& form) {
  check_bits_and_group(operation, form.bits, form.group);
  TORCH_CHECK_VALUE(form.states == 0 || form.states == 4 || form.states == 8, operation,
                    ": states is ", form.states, ", accepted: 0, 4, 8");
  TORCH_CHECK_VALUE(form.states == 0 || form.bits <= kMostTrellisBits, operation, ": ", form.bits,
                    " bits with a trellis, accepted: 1 to ", kMostTrellisBits);
}

std::tuple<at::Tensor, at::Tensor> empty_rotated(const c10::SymInt& count, const RotatedCodes& form,
                                                 kernels::ElementType type,
                                                 const at::TensorOptions& options) {
  const c10::SymInt groups = group_count(count, form.group);
  return {empty_codes(groups * form.group, static_cast<int>(form.bits), options),
          empty_constants(groups, type, options)};
}

kernels::ElementType check_rotated_decoding(const at::Tensor& codes, const at::Tensor& constants,
                                            const c10::SymInt& count, const RotatedCodes& form,
                                            at::ScalarType dtype, const at::Tensor& seed) {
  check_codes(kRotatedDecode, form);
  check_seed(kRotatedDecode, seed, codes);
  check_count(kRotatedDecode, count);
  const kernels::ElementType type = check_element_type(kRotatedDecode, dtype);
  const c10::SymInt groups = group_count(count, form.group);
  check_stream(kRotatedDecode, codes, groups * form.group, static_cast<int>(form.bits));
  check_constants(kRotatedDecode, codes, constants, groups, type);
  return type;
}

kernels::ElementType check_rotated_encoding(const at::Tensor& x, const RotatedCodes& form,
                                            const at::Tensor& seed) {
  check_codes(kRotatedEncode, form);
  check_seed(kRotatedEncode, seed, x);
  return check_element_type(kRotatedEncode, x);
}

kernels::RotatedFormat rotated_format(kernels::ElementType type, const RotatedCodes& form,
                                      int64_t count, int64_t offset) {
  return {type,  static_cast<int>(form.bits),        form.group,
          count, {0, static_cast<uint64_t>(offset)}, static_cast<int>(form.states)};
}

kernels::RotatedFormat part_of(const char* operation, kernels::RotatedFormat format,
                               int64_t first) {
  TORCH_CHECK_VALUE(first >= 0 && first % kPartElements == 0, operation, ": first is ", first,
                    ", accepted: multiples of ", kPartElements);
  format.signs.first = static_cast<uint64_t>(first) / kernels::kSignsOfDraw;
  return format;
}

}  // namespace fewbit::ops
