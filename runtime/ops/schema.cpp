#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/TensorOptions.h>
#include <torch/library.h>

#include "kernels/step_view.hpp"
#include "ops/activation.hpp"

TORCH_LIBRARY(fewbit, m) {
  const std::string arguments =
      "(Tensor x, str function, float[] parameters, Tensor thresholds, Tensor interval_codes, "
      "Tensor levels, bool even=False, *, Generator? generator=None) -> ";
  // Tables of the unbiased form draw: two calls are not one.
  const std::vector<at::Tag> draws = {at::Tag::nondeterministic_seeded};
  m.def(("activation" + arguments + "Tensor").c_str(), draws);
  m.def(
      "activation.builtin(Tensor x, str function, str table, *, Generator? generator=None) -> "
      "Tensor",
      draws);
  m.def(("activation_forward" + arguments + "(Tensor y, Tensor codes)").c_str(), draws);
  m.def("activation_value(Tensor x, str function, float[] parameters) -> Tensor");
  m.def("activation_backward(Tensor dy, Tensor codes, Tensor levels) -> Tensor");
}

namespace fewbit::ops {

namespace {

/// Looked up once per operation.
template <class Signature>
c10::TypedOperatorHandle<Signature> find(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}

}  // namespace

at::Tensor activation(const at::Tensor& x, const Table& table,
                      const std::optional<at::Generator>& generator) {
  static const auto operation = find<at::Tensor(
      const at::Tensor&, c10::string_view, Parameters, const at::Tensor&, const at::Tensor&,
      const at::Tensor&, bool, const std::optional<at::Generator>&)>("fewbit::activation");
  const Table::Tensors& step = table.tensors(x.scalar_type());
  return operation.call(x, table.function(), table.parameters(), step.thresholds,
                        step.interval_codes, step.levels, step.even, generator);
}

std::tuple<at::Tensor, at::Tensor> activation_forward(
    const at::Tensor& x, const std::string& function, Parameters parameters,
    const at::Tensor& thresholds, const at::Tensor& interval_codes, const at::Tensor& levels,
    bool even, const std::optional<at::Generator>& generator) {
  static const auto operation = find<std::tuple<at::Tensor, at::Tensor>(
      const at::Tensor&, c10::string_view, Parameters, const at::Tensor&, const at::Tensor&,
      const at::Tensor&, bool, const std::optional<at::Generator>&)>("fewbit::activation_forward");
  return operation.call(x, function, parameters, thresholds, interval_codes, levels, even,
                        generator);
}

at::Tensor activation_value(const at::Tensor& x, const std::string& function,
                            Parameters parameters) {
  static const auto operation =
      find<at::Tensor(const at::Tensor&, c10::string_view, Parameters)>("fewbit::activation_value");
  return operation.call(x, function, parameters);
}

at::Tensor activation_backward(const at::Tensor& dy, const at::Tensor& codes,
                               const at::Tensor& levels) {
  static const auto operation =
      find<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&)>(
          "fewbit::activation_backward");
  return operation.call(dy, codes, levels);
}

bool runs_on(at::DeviceType device) {
  static const auto operation =
      c10::Dispatcher::singleton().findSchemaOrThrow("fewbit::activation_forward", "");
  return operation.hasKernelForDispatchKey(
      c10::computeDispatchKey(at::kFloat, at::kStrided, device));
}

int64_t code_bytes(int64_t elements, int bits) {
  return kernels::code_bytes(elements, bits);
}

}  // namespace fewbit::ops
