#include "dispatch/activation_call.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <ATen/autocast_mode.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <c10/util/Exception.h>
#include <c10/util/strides.h>

#include "ops/activation.hpp"
#include "trace/running_operations.hpp"

namespace fewbit::session {

namespace {

constexpr std::string_view kLibrary = "aten::";

/// Torch writes selu and celu as elu with factors of its own; the registry knows no others.
ActivationCall elu_call(double alpha, double scale, double input_scale) {
  constexpr double kSeluAlpha = 1.6732632423543772;
  constexpr double kSeluScale = 1.0507009873554805;
  if (scale == 1.0 && input_scale == 1.0) return {"elu", {alpha}};
  if (scale == 1.0 && input_scale == 1.0 / alpha) return {"celu", {alpha}};
  if (input_scale == 1.0 && std::abs(alpha - kSeluAlpha) < 1e-6 &&
      std::abs(scale - kSeluScale) < 1e-6) {
    return {"selu", {}};
  }
  return {"elu", {}, "scales other than elu's, celu's and selu's"};
}

/// An operation of torch's that is a function of the registry, with the value of its text argument
/// where that says which.
struct Operation {
  std::string_view name;
  std::string_view choice;
  const char* function;
  std::vector<double> defaults;
};

const std::vector<Operation>& operations() {
#define FEWBIT_OPERATION(function, name, choice, ...) {#name, choice, #function, {__VA_ARGS__}},
  static const std::vector<Operation> kOperations = {
#include "torch.inc"
  };
  return kOperations;
}

std::string_view choice_in(Arguments arguments) {
  const auto text = std::ranges::find_if(arguments, &c10::IValue::isString);
  return text == arguments.end() ? std::string_view() : text->toStringView();
}

/// A dimension of size 1 has another stride than in the format that the tensor is in.
bool has_meaningless_strides(const at::Tensor& x) {
  if (x.unsafeGetTensorImpl()->has_symbolic_sizes_strides()) return false;
  if (x.is_contiguous()) return x.strides() != c10::contiguous_strides(x.sizes());
  return x.is_contiguous(at::MemoryFormat::ChannelsLast) &&
         x.strides() != c10::get_channels_last_strides_2d(x.sizes());
}

/// What autocast, whose turn comes after the interception's, hands to torch's own function. Of ours
/// it knows softplus alone, on CUDA, to compute in float32.
at::Tensor autocast(const c10::OperatorHandle& operation, const at::Tensor& x) {
  const at::DeviceType device = x.device().type();
  if (!at::autocast::is_autocast_available(device)) return x;
  if (!at::autocast::is_autocast_enabled(device)) return x;
  const auto key = at::autocast::get_autocast_dispatch_key_from_device_type(device);
  if (!operation.hasKernelForDispatchKey(key)) return x;
  return at::autocast::cached_cast(at::kFloat, x, device);
}

}  // namespace

std::vector<std::string> activation_operations() {
  std::vector<std::string> names;
  for (const Operation& operation : operations()) {
    for (const char* suffix : {"", "_"}) {
      const std::string name = std::string(operation.name) + suffix;
      const c10::OperatorName full(std::string(kLibrary) + name, "");
      const bool is_new = std::ranges::find(names, name) == names.end();
      if (is_new && c10::Dispatcher::singleton().findSchema(full)) names.push_back(name);
    }
  }
  return names;
}

std::optional<ActivationCall> activation_call(std::string_view operation, Arguments arguments) {
  if (!operation.starts_with(kLibrary)) return std::nullopt;
  std::string_view name = operation.substr(kLibrary.size());
  if (is_in_place(name)) name.remove_suffix(1);
  const auto same_name = [name](const Operation& known) { return known.name == name; };
  const auto first = std::ranges::find_if(operations(), same_name);
  if (first == operations().end()) return std::nullopt;

  const std::string_view choice = choice_in(arguments);
  const auto known = std::find_if(first, operations().end(), [&](const Operation& candidate) {
    return same_name(candidate) && candidate.choice == choice;
  });
  if (known == operations().end()) {
    return ActivationCall{first->function, {}, "an option that torch refuses"};
  }
  std::vector<double> scalars;
  for (const c10::IValue& argument : arguments.slice(1)) {
    if (argument.isScalar()) scalars.push_back(argument.toScalar().toDouble());
  }
  if (name == "elu") return elu_call(scalars[0], scalars[1], scalars[2]);
  ActivationCall call{known->function, known->defaults};  // silu's beta is ours alone
  TORCH_INTERNAL_ASSERT(scalars.size() <= call.parameters.size(), operation);
  std::ranges::copy(scalars, call.parameters.begin());
  return call;
}

const char* reason_against(const at::Tensor& x) {
  if (is_in_backward()) return "in the backward pass";
  constexpr c10::DispatchKeySet kWrapped(
      {c10::DispatchKey::FuncTorchBatched, c10::DispatchKey::FuncTorchGradWrapper});
  if (x.key_set().has_any(kWrapped)) return "inside a transform of functorch";
  if (x.key_set().has(c10::DispatchKey::Python)) return "a tensor subclass of Python's";
  if (!at::GradMode::is_enabled() || !x.requires_grad()) return "keeps nothing: no gradient asked";
  const at::ScalarType type = x.scalar_type();
  const bool known =
      type == at::kFloat || type == at::kBFloat16 || type == at::kHalf || type == at::kDouble;
  if (!known) return "type not supported";
  if (!ops::runs_on(x.device().type())) return "device not supported";
  if (x.layout() != at::kStrided || x.is_nested()) return "layout not strided";
  if (x.has_names()) return "has named dimensions";
  if (x._fw_grad(0).defined()) return "forward-mode differentiation";
  return nullptr;
}

const char* reason_against(const at::Tensor& x, std::string_view function) {
  if (const char* reason = reason_against(x)) return reason;
  if (function == "hardtanh" && has_meaningless_strides(x)) {
    return "torch keeps its strides of dimensions of size 1";
  }
  return nullptr;
}

at::Tensor in_torchs_layout(const at::Tensor& x, const std::string& function) {
  // The one whose result torch does not lay out as its input.
  const bool always_contiguous = function == "logsigmoid" && x.device().is_cpu();
  return always_contiguous ? x.contiguous() : x;
}

bool keeps_output(std::string_view function) {
  return function == "relu" || function == "sigmoid" || function == "tanh";
}

bool is_vanishing(std::string_view function) {
  return function == "elu" || function == "celu";
}

const char* reason_for_rule(std::string_view function) {
  constexpr std::array<std::string_view, 4> kVanishing = {"softplus", "logsigmoid", "elu", "celu"};
  if (keeps_output(function)) return "torch keeps its output only; a rule replaces it";
  if (std::ranges::find(kVanishing, function) != kVanishing.end()) {
    return "its derivative falls to 0, far below a table's error; a rule replaces it";
  }
  return nullptr;
}

std::optional<Table> standard_or_reason(const std::string& function, Bits bits,
                                        const std::vector<double>& parameters,
                                        std::string& reason) {
  try {
    return Table::standard(function, bits, parameters);
  } catch (const c10::Error& error) {
    reason = error.what_without_backtrace();
    return std::nullopt;
  }
}

Substitute few_bit_activation(const c10::OperatorHandle& operation, const Table& table,
                              bool codes_first) {
  return [operation, table, codes_first](Arguments given) -> torch::jit::Stack {
    const at::Tensor x = autocast(operation, given[0].toTensor());
    const bool in_place = is_in_place(operation.schema().name());
    return {ops::activation(in_torchs_layout(x, table.function()), table, {},
                            {in_place, codes_first && !in_place})};
  };
}

TORCH_LIBRARY_IMPL(aten, TESTING_ONLY_GenericMode, m) {
  intercept(m, activation_operations());
}

}  // namespace fewbit::session
