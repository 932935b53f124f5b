#include "ops/activation.hpp"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/randint.h>
#include <c10/core/TensorOptions.h>
#include <torch/library.h>

#include "kernels/stream/code_stream.hpp"
#include "ops/activation_passes.hpp"
#include "ops/find.hpp"
#include "ops/layout.hpp"
#include "ops/ranges.hpp"
#include "ops/table_arguments.hpp"
#include "ops/tensor_arguments.hpp"

TORCH_LIBRARY_FRAGMENT(fewbit, m) {
  const std::string arguments =
      "(Tensor x, str function, float[] parameters, float[] thresholds, int[] codes, "
      "float[] levels, bool even=False, Tensor? seed=None, bool in_place=False, "
      "bool codes_first=False) -> ";
  m.def(("activation" + arguments + "Tensor").c_str());
  m.def("activation.builtin(Tensor x, str function, str table, Tensor? seed=None) -> Tensor");
  m.def(("activation_forward" + arguments + "(Tensor y, Tensor codes)").c_str());
  m.def("activation_value(Tensor x, str function, float[] parameters) -> Tensor");
  m.def("activation_backward(Tensor dy, Tensor codes, float[] levels) -> Tensor");
  m.def("activation_backward_(Tensor(a!) dy, Tensor codes, float[] levels) -> ()");
}

namespace fewbit::ops {

namespace {

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

struct ActivationCpu {
  static constexpr at::DeviceType kType = at::kCPU;

  static void forward(const char*, const FunctionCall& call, const kernels::StepView& step,
                      const Elements& at, uint8_t* codes) {
    for_ranges(at.count, [&](const kernels::Range& range) {
      kernels::activation_forward(call.function, call.parameters.data(), step, at.type, at.from,
                                  at.to, codes, range);
    });
  }

  static void forward_unbiased(const char*, const FunctionCall& call, const kernels::StepView& step,
                               const int64_t* seed, const Elements& at, uint8_t* codes) {
    const kernels::PhiloxState random{static_cast<uint64_t>(*seed), 0};
    for_ranges(at.count, [&](const kernels::Range& range) {
      kernels::activation_forward_unbiased(call.function, call.parameters.data(), step, random,
                                           at.type, at.from, at.to, codes, range);
    });
  }

  static void backward(const char*, const kernels::StepView& step, const Elements& at,
                       const uint8_t* codes) {
    for_ranges(at.count, [&](const kernels::Range& range) {
      kernels::activation_backward(step, at.type, at.from, codes, at.to, range);
    });
  }
};

// Shapes without data, sizes symbolic.

std::tuple<at::Tensor, at::Tensor> forward_shapes(const at::Tensor& x,
                                                  const ActivationArguments& arguments) {
  check_forward(at::kMeta, x, arguments);
  const int bits = bits_of(arguments.table.levels.size());
  return {like(x), empty_codes(x.sym_numel(), bits, x.options())};
}

at::Tensor value_shapes(const at::Tensor& x, c10::string_view, Numbers) {
  check_element_type("fewbit::activation_value", x);
  return like(x);
}

at::Tensor backward_shapes(const at::Tensor& dy, const at::Tensor& codes, Numbers levels) {
  check_backward(at::kMeta, dy, codes, levels);
  return like(dy);
}

void backward_in_place_shapes(const at::Tensor& dy, const at::Tensor& codes, Numbers levels) {
  check_backward(at::kMeta, dy, codes, levels);
}

}  // namespace

TORCH_LIBRARY_IMPL(fewbit, CompositeImplicitAutograd, m) {
  m.impl("activation.builtin", activation_by_name);
}

TORCH_LIBRARY_IMPL(fewbit, CPU, m) {
  m.impl("activation_forward", unpacked<Operations<ActivationCpu>::forward>);
  m.impl("activation_value", Operations<ActivationCpu>::value);
  m.impl("activation_backward", Operations<ActivationCpu>::backward);
  m.impl("activation_backward_", Operations<ActivationCpu>::backward_in_place);
}

TORCH_LIBRARY_IMPL(fewbit, Meta, m) {
  m.impl("activation_forward", unpacked<forward_shapes>);
  m.impl("activation_value", value_shapes);
  m.impl("activation_backward", backward_shapes);
  m.impl("activation_backward_", backward_in_place_shapes);
}

ActivationArguments arguments_of(const Table& table, at::ScalarType type,
                                 const std::optional<at::Tensor>& seed) {
  const Table::Steps& steps = table.steps(type);
  return {table.function(),
          table.parameters(),
          {steps.thresholds, steps.codes, steps.levels, steps.even},
          seed,
          /*run=*/{}};
}

at::Tensor activation(const at::Tensor& x, const Table& table,
                      const std::optional<at::Generator>& generator, ActivationRun run) {
  static const auto operation = find<ActivationSignature<at::Tensor>>("fewbit::activation");
  ActivationArguments arguments =
      arguments_of(table, x.scalar_type(), seed_for(x, table, generator));
  arguments.run = run;
  return packed(operation, x, arguments);
}

std::tuple<at::Tensor, at::Tensor> activation_forward(const at::Tensor& x,
                                                      const ActivationArguments& arguments) {
  using Signature = ActivationSignature<std::tuple<at::Tensor, at::Tensor>>;
  static const auto operation = find<Signature>(kActivationForward);
  return packed(operation, x, arguments);
}

at::Tensor activation_value(const at::Tensor& x, c10::string_view function, Numbers parameters) {
  static const auto operation =
      find<at::Tensor(const at::Tensor&, c10::string_view, Numbers)>("fewbit::activation_value");
  return operation.call(x, function, parameters);
}

at::Tensor activation_backward(const at::Tensor& dy, const at::Tensor& codes, Numbers levels) {
  static const auto operation =
      find<at::Tensor(const at::Tensor&, const at::Tensor&, Numbers)>(kActivationBackward);
  return operation.call(dy, codes, levels);
}

void activation_backward_(const at::Tensor& dy, const at::Tensor& codes, Numbers levels) {
  static const auto operation =
      find<void(const at::Tensor&, const at::Tensor&, Numbers)>("fewbit::activation_backward_");
  operation.call(dy, codes, levels);
}

bool runs_on(at::DeviceType device) {
  static const auto operation =
      c10::Dispatcher::singleton().findSchemaOrThrow(kActivationForward, "");
  return operation.hasKernelForDispatchKey(
      c10::computeDispatchKey(at::kFloat, at::kStrided, device));
}

int64_t code_bytes(int64_t elements, int bits) {
  return kernels::code_bytes(elements, bits);
}

}  // namespace fewbit::ops
