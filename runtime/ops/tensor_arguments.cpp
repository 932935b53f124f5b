#include "ops/tensor_arguments.hpp"

#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>

namespace fewbit::ops {

void check_device(const char* operation, const char* argument, const at::Tensor& tensor,
                  at::DeviceType device) {
  TORCH_CHECK(tensor.device().type() == device, operation, ": ", argument, " is on ",
              tensor.device(), ", but another argument on ", at::DeviceTypeName(device, true));
}

kernels::ElementType check_element_type(const char* operation, const at::Tensor& tensor) {
  return check_element_type(operation, tensor.scalar_type());
}

kernels::ElementType check_element_type(const char* operation, at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return kernels::ElementType::f32;
    case at::kBFloat16:
      return kernels::ElementType::bf16;
    case at::kHalf:
      return kernels::ElementType::f16;
    case at::kDouble:
      return kernels::ElementType::f64;
    default:
      TORCH_CHECK(false, operation, ": a tensor of ", type,
                  ", accepted: float, bfloat16, half, double");
  }
}

c10::SymInt code_bytes(const c10::SymInt& count, int bits) {
  return ((count * bits + 7) / 8 + 15) / 16 * 16;
}

at::Tensor empty_codes(const c10::SymInt& count, int bits, const at::TensorOptions& options) {
  return at::empty_symint({code_bytes(count, bits)}, options.dtype(at::kByte));
}

void check_count(const char* operation, const c10::SymInt& count) {
  TORCH_CHECK(count >= 0, operation, ": count is ", count, ", accepted: 0 or more");
}

void check_stream_type(const char* operation, const at::Tensor& codes) {
  TORCH_CHECK(codes.scalar_type() == at::kByte && codes.dim() == 1 && codes.is_contiguous(),
              operation, ": codes is a ", codes.dim(), "-d tensor of ", codes.scalar_type(),
              ", accepted: contiguous 1-d uint8");
}

void check_stream(const char* operation, const at::Tensor& codes, const c10::SymInt& count,
                  int bits) {
  check_stream_type(operation, codes);
  const c10::SymInt bytes = code_bytes(count, bits);
  TORCH_CHECK(codes.sym_numel() == bytes, operation, ": codes has ", codes.sym_numel(),
              " bytes, accepted: ", bytes, ", which ", count, " codes of ", bits, " bits take");
}

void check_codes(const char* operation, const at::Tensor& codes, const at::Tensor& dy, int bits) {
  TORCH_CHECK(codes.device() == dy.device(), operation, ": codes is on ", codes.device(),
              ", but dy on ", dy.device());
  check_stream(operation, codes, dy.sym_numel(), bits);
}

void check_seed(const char* operation, const std::optional<at::Tensor>& seed, const at::Tensor& x) {
  TORCH_CHECK(seed.has_value(), operation,
              ": a table of the unbiased form takes a seed, one int64 on ", x.device());
  TORCH_CHECK(seed->scalar_type() == at::kLong && seed->sym_numel() == 1, operation, ": seed is ",
              seed->sym_numel(), " elements of ", seed->scalar_type(), ", accepted: one Long");
  TORCH_CHECK(seed->device() == x.device(), operation, ": seed is on ", seed->device(),
              ", but x on ", x.device());
}

}  // namespace fewbit::ops
