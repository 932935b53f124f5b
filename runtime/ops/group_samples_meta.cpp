#include <utility>

#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "ops/group_samples_arguments.hpp"
#include "ops/tensor_arguments.hpp"

// Shapes without data, sizes symbolic.

namespace fewbit::ops {

namespace {

std::tuple<at::Tensor, at::Tensor> encode(const at::Tensor& x, const at::Tensor& bits,
                                          c10::SymInt bytes, int64_t group,
                                          c10::string_view rounding,
                                          const std::optional<at::Tensor>& seed, int64_t offset) {
  constexpr const char* kName = "fewbit::group_encode_samples";
  check_device(kName, "x", x, at::kMeta);
  const kernels::ElementType type = check_element_type(kName, x);
  check_sample_group(kName, kernels::encoding_draws, type, group, rounding, seed, offset, x);
  const c10::SymInt count = check_samples(kName, x, bits);
  return {at::empty_symint({std::move(bytes)}, x.options().dtype(at::kByte)),
          at::empty_symint({sample_group_count(bits, count, group), 2},
                           x.options().dtype(constants_type(type)))};
}

at::Tensor decode(const at::Tensor& codes, const at::Tensor& constants, const at::Tensor& bits,
                  c10::SymInt count, int64_t group, c10::string_view rounding, at::ScalarType dtype,
                  const std::optional<at::Tensor>& seed, int64_t offset) {
  constexpr const char* kName = "fewbit::group_decode_samples";
  check_device(kName, "codes", codes, at::kMeta);
  const kernels::ElementType type = check_element_type(kName, dtype);
  const kernels::GroupFormat format = check_sample_group(kName, kernels::decoding_draws, type,
                                                         group, rounding, seed, offset, codes);
  check_encoded_samples(kName, format, codes, constants, bits, count);
  return at::empty_symint({bits.sym_numel(), std::move(count)}, codes.options().dtype(dtype));
}

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, Meta, m) {
  m.impl("group_encode_samples", encode);
  m.impl("group_decode_samples", decode);
}

}  // namespace fewbit::ops
