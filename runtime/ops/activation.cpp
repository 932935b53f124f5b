#include "ops/activation.hpp"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/randint.h>
#include <c10/core/TensorOptions.h>
#include <torch/library.h>

#include "kernels/stream/code_stream.hpp"

TORCH_LIBRARY_FRAGMENT(fewbit, m) {
  const std::string arguments =
      "(Tensor x, str function, float[] parameters, float[] thresholds, int[] codes, "
      "float[] levels, bool even=False, Tensor? seed=None) -> ";
  m.def(("activation" + arguments + "Tensor").c_str());
  m.def("activation.builtin(Tensor x, str function, str table, Tensor? seed=None) -> Tensor");
  m.def(("activation_forward" + arguments + "(Tensor y, Tensor codes)").c_str());
  m.def("activation_value(Tensor x, str function, float[] parameters) -> Tensor");
  m.def("activation_backward(Tensor dy, Tensor codes, float[] levels) -> Tensor");
}

namespace fewbit::ops {

namespace {

/// Looked up once per operation.
template <class Signature>
c10::TypedOperatorHandle<Signature> find(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}

/// One draw of the generator, the key of all of a call's random numbers.
std::optional<at::Tensor> seed_for(const at::Tensor& x, const Table& table,
                                   const std::optional<at::Generator>& generator) {
  if (!table.is_unbiased()) return std::nullopt;
  return at::randint(std::numeric_limits<int64_t>::max(), {1}, generator,
                     x.options().dtype(at::kLong).requires_grad(false));
}

at::Tensor activation_by_name(const at::Tensor& x, c10::string_view function, c10::string_view name,
                              const std::optional<at::Tensor>& seed) {
  const Table table = Table::builtin(std::string(function), std::string(name));
  if (!seed) return activation(x, table);
  static const auto operation = find<ActivationSignature<at::Tensor>>("fewbit::activation");
  return packed(operation, x, arguments_of(table, x.scalar_type(), seed));
}

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, CompositeImplicitAutograd, m) {
  m.impl("activation.builtin", activation_by_name);
}

ActivationArguments arguments_of(const Table& table, at::ScalarType type,
                                 const std::optional<at::Tensor>& seed) {
  const Table::Steps& steps = table.steps(type);
  return {table.function(),
          table.parameters(),
          {steps.thresholds, steps.codes, steps.levels, steps.even},
          seed};
}

at::Tensor activation(const at::Tensor& x, const Table& table,
                      const std::optional<at::Generator>& generator) {
  static const auto operation = find<ActivationSignature<at::Tensor>>("fewbit::activation");
  return packed(operation, x, arguments_of(table, x.scalar_type(), seed_for(x, table, generator)));
}

std::tuple<at::Tensor, at::Tensor> activation_forward(const at::Tensor& x,
                                                      const ActivationArguments& arguments) {
  using Signature = ActivationSignature<std::tuple<at::Tensor, at::Tensor>>;
  static const auto operation = find<Signature>("fewbit::activation_forward");
  return packed(operation, x, arguments);
}

at::Tensor activation_value(const at::Tensor& x, c10::string_view function, Numbers parameters) {
  static const auto operation =
      find<at::Tensor(const at::Tensor&, c10::string_view, Numbers)>("fewbit::activation_value");
  return operation.call(x, function, parameters);
}

at::Tensor activation_backward(const at::Tensor& dy, const at::Tensor& codes, Numbers levels) {
  static const auto operation = find<at::Tensor(const at::Tensor&, const at::Tensor&, Numbers)>(
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
