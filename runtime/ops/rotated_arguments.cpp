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

namespace {

void check_length(const char* operation, const char* list, size_t seen, size_t tensors) {
  TORCH_CHECK_VALUE(seen == tensors, operation, ": ", list, " has ", seen,
                    " elements, accepted: as many as there are tensors, ", tensors);
}

}  // namespace

kernels::ElementType check_encoding_together(at::TensorList xs, const RotatedCodes& form,
                                             const at::Tensor& seed, at::IntArrayRef offsets,
                                             at::TensorList codes, at::TensorList constants) {
  check_codes(kEncodeTogether, form);
  check_length(kEncodeTogether, "offsets", offsets.size(), xs.size());
  check_length(kEncodeTogether, "codes", codes.size(), xs.size());
  check_length(kEncodeTogether, "constants", constants.size(), xs.size());
  auto type = kernels::ElementType::bf16;
  for (size_t i = 0; i < xs.size(); ++i) {
    check_seed(kEncodeTogether, seed, xs[i]);
    type = check_element_type(kEncodeTogether, xs[i]);
    TORCH_CHECK_TYPE(xs[i].scalar_type() == xs[0].scalar_type(), kEncodeTogether, ": x ", i,
                     " is of ", xs[i].scalar_type(), ", accepted: as the first, ",
                     xs[0].scalar_type());
    const c10::SymInt groups = group_count(xs[i].sym_numel(), form.group);
    check_stream(kEncodeTogether, codes[i], groups * form.group, static_cast<int>(form.bits));
    check_constants(kEncodeTogether, codes[i], constants[i], groups, type);
    TORCH_CHECK(codes[i].device() == xs[i].device(), kEncodeTogether, ": codes ", i, " are on ",
                codes[i].device(), ", x is on ", xs[i].device());
  }
  return type;
}

kernels::ElementType check_decoding_together(at::TensorList codes, at::TensorList constants,
                                             at::IntArrayRef counts, const RotatedCodes& form,
                                             at::ScalarType dtype, const at::Tensor& seed,
                                             at::IntArrayRef offsets) {
  check_codes(kDecodeTogether, form);
  check_length(kDecodeTogether, "constants", constants.size(), codes.size());
  check_length(kDecodeTogether, "counts", counts.size(), codes.size());
  check_length(kDecodeTogether, "offsets", offsets.size(), codes.size());
  for (size_t i = 0; i < codes.size(); ++i) {
    check_rotated_decoding(codes[i], constants[i], counts[i], form, dtype, seed);
  }
  return check_element_type(kDecodeTogether, dtype);
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
