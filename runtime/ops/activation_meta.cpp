#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "ops/activation.hpp"
#include "ops/arguments.hpp"
#include "ops/layout.hpp"

// Shapes without data, sizes symbolic.

namespace fewbit::ops {

namespace {

std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& x, c10::string_view, Parameters,
                                           const at::Tensor&, const at::Tensor&,
                                           const at::Tensor& levels, bool,
                                           const std::optional<at::Generator>&) {
  constexpr const char* kName = "fewbit::activation_forward";
  check_device(kName, "x", x, at::kMeta);
  check_element_type(kName, x);
  const c10::SymInt bytes = code_bytes(x.sym_numel(), bits_of(levels));
  return {like(x), at::empty_symint({bytes}, x.options().dtype(at::kByte))};
}

at::Tensor value(const at::Tensor& x, c10::string_view, Parameters) {
  check_element_type("fewbit::activation_value", x);
  return like(x);
}

at::Tensor backward(const at::Tensor& dy, const at::Tensor& codes, const at::Tensor& levels) {
  constexpr const char* kName = "fewbit::activation_backward";
  check_device(kName, "dy", dy, at::kMeta);
  check_element_type(kName, dy);
  check_codes(kName, codes, dy, bits_of(levels));
  return like(dy);
}

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, Meta, m) {
  m.impl("activation_forward", forward);
  m.impl("activation_value", value);
  m.impl("activation_backward", backward);
}

}  // namespace fewbit::ops
