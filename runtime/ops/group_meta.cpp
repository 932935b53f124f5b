#include <utility>

#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "ops/group_arguments.hpp"
#include "ops/tensor_arguments.hpp"

// Shapes without data, sizes symbolic.

namespace fewbit::ops {

namespace {

std::tuple<at::Tensor, at::Tensor> encode(const at::Tensor& x, int64_t bits, int64_t group,
                                          c10::string_view rounding,
                                          const std::optional<at::Tensor>& seed, int64_t offset) {
  constexpr const char* kName = "fewbit::group_encode";
  check_device(kName, "x", x, at::kMeta);
  const kernels::ElementType type = check_element_type(kName, x);
  const kernels::GroupFormat format =
      check_group(kName, kernels::encoding_draws, type, {bits, group, rounding, seed, offset}, x);
  const c10::SymInt count = x.sym_numel();
  return {
      at::empty_symint({code_bytes(count, format.bits)}, x.options().dtype(at::kByte)),
      at::empty_symint({group_count(count, group), 2}, x.options().dtype(constants_type(type)))};
}

at::Tensor decode(const at::Tensor& codes, const at::Tensor& constants, c10::SymInt count,
                  int64_t bits, int64_t group, c10::string_view rounding, at::ScalarType dtype,
                  const std::optional<at::Tensor>& seed, int64_t offset) {
  constexpr const char* kName = "fewbit::group_decode";
  check_device(kName, "codes", codes, at::kMeta);
  const kernels::ElementType type = check_element_type(kName, dtype);
  const kernels::GroupFormat format = check_group(kName, kernels::decoding_draws, type,
                                                  {bits, group, rounding, seed, offset}, codes);
  check_count(kName, count);
  check_encoded(kName, format, codes, constants, count);
  return at::empty_symint({std::move(count)}, codes.options().dtype(dtype));
}

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, Meta, m) {
  m.impl("group_encode", encode);
  m.impl("group_decode", decode);
}

}  // namespace fewbit::ops
