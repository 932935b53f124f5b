#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "ops/activation.hpp"
#include "ops/layout.hpp"
#include "ops/table_arguments.hpp"
#include "ops/tensor_arguments.hpp"

// Shapes without data, sizes symbolic.

namespace fewbit::ops {

namespace {

std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& x,
                                           const ActivationArguments& arguments) {
  constexpr const char* kName = "fewbit::activation_forward";
  check_device(kName, "x", x, at::kMeta);
  check_element_type(kName, x);
  if (arguments.table.is_unbiased()) check_seed(kName, arguments.seed, x);
  const int bits = bits_of(arguments.table.levels.size());
  const c10::SymInt bytes = code_bytes(x.sym_numel(), bits);
  return {like(x), at::empty_symint({bytes}, x.options().dtype(at::kByte))};
}

at::Tensor value(const at::Tensor& x, c10::string_view, Numbers) {
  check_element_type("fewbit::activation_value", x);
  return like(x);
}

at::Tensor backward(const at::Tensor& dy, const at::Tensor& codes, Numbers levels) {
  constexpr const char* kName = "fewbit::activation_backward";
  check_device(kName, "dy", dy, at::kMeta);
  check_element_type(kName, dy);
  check_codes(kName, codes, dy, bits_of(levels.size()));
  return like(dy);
}

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, Meta, m) {
  m.impl("activation_forward", unpacked<forward>);
  m.impl("activation_value", value);
  m.impl("activation_backward", backward);
}

}  // namespace fewbit::ops
