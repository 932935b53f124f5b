#include <torch/library.h>

#include "ops/activation.hpp"

// A table by its name, for callers that hold no Table: TorchScript, Python.

namespace fewbit::ops {

namespace {

at::Tensor builtin(const at::Tensor& x, c10::string_view function, c10::string_view table,
                   const std::optional<at::Generator>& generator) {
  return activation(x, Table::builtin(std::string(function), std::string(table)), generator);
}

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, CompositeImplicitAutograd, m) {
  m.impl("activation.builtin", builtin);
}

}  // namespace fewbit::ops
