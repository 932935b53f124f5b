#include <utility>

#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "ops/integer_arguments.hpp"
#include "ops/tensor_arguments.hpp"

// Shapes without data, sizes symbolic.

namespace fewbit::ops {

namespace {

at::Tensor codes_of(const at::Tensor& x, int bits) {
  return at::empty_symint({code_bytes(x.sym_numel(), bits)}, x.options().dtype(at::kByte));
}

at::Tensor encode_integers(const at::Tensor& x, int64_t minimum, int64_t bits) {
  constexpr const char* kName = "fewbit::integer_encode";
  check_device(kName, "x", x, at::kMeta);
  const kernels::IntegerType type = check_integer_type(kName, x.scalar_type());
  return codes_of(x, check_integer_bits(kName, type, minimum, bits));
}

at::Tensor decode_integers(const at::Tensor& codes, c10::SymInt count, int64_t minimum,
                           int64_t bits, at::ScalarType dtype) {
  constexpr const char* kName = "fewbit::integer_decode";
  check_device(kName, "codes", codes, at::kMeta);
  const kernels::IntegerType type = check_integer_type(kName, dtype);
  check_count(kName, count);
  check_stream(kName, codes, count, check_integer_bits(kName, type, minimum, bits));
  return at::empty_symint({std::move(count)}, codes.options().dtype(dtype));
}

at::Tensor encode_mask(const at::Tensor& x) {
  constexpr const char* kName = "fewbit::sign_encode";
  check_device(kName, "x", x, at::kMeta);
  check_mask_type(kName, x.scalar_type());
  return codes_of(x, 1);
}

at::Tensor decode_mask(const at::Tensor& codes, c10::SymInt count, at::ScalarType dtype) {
  constexpr const char* kName = "fewbit::sign_decode";
  check_device(kName, "codes", codes, at::kMeta);
  check_mask_type(kName, dtype);
  check_count(kName, count);
  check_stream(kName, codes, count, 1);
  return at::empty_symint({std::move(count)}, codes.options().dtype(dtype));
}

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, Meta, m) {
  m.impl("integer_encode", encode_integers);
  m.impl("integer_decode", decode_integers);
  m.impl("sign_encode", encode_mask);
  m.impl("sign_decode", decode_mask);
}

}  // namespace fewbit::ops
