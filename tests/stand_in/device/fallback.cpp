// Torch's operations on the device: on copies in the host's memory, by the CPU's kernels. They run
// late, like our own. Where numbers are drawn, lists are taken or sizes follow from data, operands
// are read at once and only results are written late.
#include "tests/stand_in/device/fallback.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/record_function.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include "tests/stand_in/device/copies.hpp"
#include "tests/stand_in/device/counts.hpp"
#include "tests/stand_in/device/device.hpp"
#include "tests/stand_in/device/memory.hpp"
#include "tests/stand_in/device/streams.hpp"

namespace fewbit::stand_in {

namespace {

bool is_ours(const at::Tensor& tensor) {
  return tensor.defined() && tensor.device().type() == kDevice;
}

/// What the arguments tell: the device of the first tensor that is on one.
class CalledDevice {
 public:
  CalledDevice(const std::string& operation, at::ArrayRef<c10::IValue> arguments)
      : operation_(operation) {
    for (const c10::IValue& argument : arguments) {
      if (argument.isDevice() && argument.toDevice().type() == kDevice) {
        device_ = argument.toDevice();
      }
      for_tensors(argument, [&](const at::Tensor& tensor) {
        if (is_ours(tensor) && !device_) device_ = tensor.device();
      });
    }
    TORCH_INTERNAL_ASSERT(device_.has_value(), operation);
    // Indices may be the host's.
    if (operation.starts_with("aten::index") || operation.starts_with("aten::_index")) return;
    for (const c10::IValue& argument : arguments) {
      for_tensors(argument, [&](const at::Tensor& tensor) { check(tensor); });
    }
  }

  c10::Device device() const { return *device_; }

  template <class Function>
  static void for_tensors(const c10::IValue& value, const Function& function) {
    if (value.isTensor()) {
      function(value.toTensor());
    } else if (value.isTensorList()) {
      for (const at::Tensor& tensor : value.toTensorVector()) function(tensor);
    } else if (value.isOptionalTensorList()) {
      for (const auto& tensor : value.toOptionalTensorVector()) {
        if (tensor) function(*tensor);
      }
    }
  }

 private:
  void check(const at::Tensor& tensor) const {
    if (!tensor.defined() || tensor.device() == *device_) return;
    TORCH_CHECK(tensor.is_cpu() && tensor.dim() == 0, operation_,
                ": Expected all tensors to be on the same device, but found at least two devices, ",
                *device_, " and ", tensor.device());
  }

  const std::string& operation_;
  std::optional<c10::Device> device_;
};

at::Tensor on_host(const at::Tensor& tensor) {
  return is_ours(tensor) ? read(tensor) : tensor;
}

c10::IValue on_host(const c10::IValue& value) {
  if (value.isTensor()) return on_host(value.toTensor());
  if (value.isDevice()) return c10::Device(c10::kCPU);
  if (value.isTensorList()) {
    c10::List<at::Tensor> result;
    for (const at::Tensor& tensor : value.toTensorVector()) result.push_back(on_host(tensor));
    return result;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> result;
    for (const auto& tensor : value.toOptionalTensorVector()) {
      result.push_back(tensor ? std::optional(on_host(*tensor)) : std::nullopt);
    }
    return result;
  }
  return value;
}

void write_back(const at::Tensor& target, const at::Tensor& result) {
  if (!is_ours(target)) return;
  if (target.sizes() != result.sizes()) resize(target, result.sizes(), result.strides());
  write(target, result);
}

void write_back(const c10::IValue& target, const c10::IValue& result) {
  if (target.isTensor()) {
    write_back(target.toTensor(), result.toTensor());
  } else if (target.isTensorList()) {
    const auto targets = target.toTensorVector(), results = result.toTensorVector();
    for (size_t i = 0; i < targets.size(); ++i) write_back(targets[i], results[i]);
  }
}

c10::IValue on_device(const c10::IValue& value, c10::Device device) {
  const auto moved = [&](const at::Tensor& tensor) {
    return tensor.defined() ? written(tensor, device) : tensor;
  };
  if (value.isTensor()) return moved(value.toTensor());
  if (value.isTensorList()) {
    c10::List<at::Tensor> result;
    for (const at::Tensor& tensor : value.toTensorVector()) result.push_back(moved(tensor));
    return result;
  }
  return value;
}

int64_t bytes_of(at::ArrayRef<c10::IValue> values) {
  int64_t bytes = 0;
  for (const c10::IValue& value : values) {
    CalledDevice::for_tensors(value, [&](const at::Tensor& tensor) {
      if (tensor.defined()) bytes += static_cast<int64_t>(tensor.nbytes());
    });
  }
  return bytes;
}

bool is_written(const c10::AliasInfo* alias) {
  return alias != nullptr && alias->isWrite();
}

/// Of which a GPU's kernels tell the host a size or a value.
bool makes_the_host_wait(std::string_view name, at::ArrayRef<c10::IValue> arguments) {
  constexpr std::string_view kWaiting[] = {
      "aten::equal",    "aten::is_nonzero",    "aten::nonzero",          "aten::masked_select",
      "aten::_unique",  "aten::_unique2",      "aten::unique_dim",       "aten::unique_consecutive",
      "aten::bincount", "aten::_assert_async", "aten::repeat_interleave"};
  if (std::ranges::find(kWaiting, name) != std::end(kWaiting)) return true;
  if (name != "aten::index" && name != "aten::index_put_" && name != "aten::_index_put_impl_") {
    return false;
  }
  bool has_mask = false;
  CalledDevice::for_tensors(arguments[1], [&](const at::Tensor& index) {
    has_mask = has_mask || (index.defined() && index.scalar_type() == at::kBool);
  });
  return has_mask;
}

/// Which draws the numbers of the operation: the one among its arguments, or the device's own.
std::optional<at::Generator> generator_of(const c10::OperatorHandle& operation,
                                          at::ArrayRef<c10::IValue> arguments, c10::Device device) {
  if (!operation.hasTag(at::Tag::nondeterministic_seeded)) return std::nullopt;
  for (const c10::IValue& argument : arguments) {
    if (argument.isGenerator()) return argument.toGenerator();
  }
  return default_generator(device.index());
}

/// The operation that runs in the place of one that only devices of torch's own kind have.
c10::OperatorHandle host_operation(const c10::OperatorHandle& operation,
                                   std::vector<c10::IValue>& arguments) {
  const auto named = [](const char* name) {
    return c10::Dispatcher::singleton().findSchemaOrThrow(name, "");
  };
  const std::string& name = operation.schema().name();
  if (name == "aten::convolution_overrideable") return named("aten::convolution");
  if (name != "aten::convolution_backward_overrideable") return operation;
  const at::Tensor& dy = arguments[0].toTensor();
  arguments.insert(arguments.begin() + 3, c10::IValue(std::vector<int64_t>{dy.size(1)}));
  return named("aten::convolution_backward");
}

/// The results of `operation`, as they come from the CPU.
std::vector<c10::IValue> results_of(const c10::OperatorHandle& operation,
                                    std::vector<c10::IValue> arguments,
                                    std::optional<at::Generator> generator) {
  const at::AutoDispatchBelowADInplaceOrView below;
  const at::DisableRecordFunctionGuard unseen;
  std::optional<DrawsOfDevice> draws;
  if (generator) draws.emplace(*generator);
  for (c10::IValue& argument : arguments) {
    if (argument.isGenerator()) argument = c10::IValue();
  }
  const c10::OperatorHandle on_host = host_operation(operation, arguments);
  torch::jit::Stack stack = std::move(arguments);
  if (on_host.schema().name() == operation.schema().name()) {
    on_host.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &stack);
  } else {
    on_host.callBoxed(&stack);
  }
  return stack;
}

/// An argument of an operation that runs later, without the memory of a device.
struct LaterArgument {
  c10::IValue value;  ///< where it has no tensor of the device
  std::vector<DeviceElements> tensors;

  /// A list is of tensors of the device alone.
  explicit LaterArgument(const c10::IValue& given) : value(given) {
    CalledDevice::for_tensors(given, [&](const at::Tensor& tensor) {
      if (is_ours(tensor)) tensors.emplace_back(tensor);
    });
    if (!tensors.empty()) {
      value = given.isTensorList() ? c10::IValue(c10::List<at::Tensor>()) : c10::IValue();
    } else if (given.isTensor() && given.toTensor().defined()) {
      value = given.toTensor().clone();
    }
  }

  c10::IValue now() const {
    if (tensors.empty()) return value;
    if (!value.isTensorList()) return tensors[0].copied();
    c10::List<at::Tensor> list;
    for (const DeviceElements& one : tensors) list.push_back(one.copied());
    return list;
  }
};

/// The same sizes and strides, of zeros or without data.
at::Tensor stand_for(const at::Tensor& tensor, c10::DeviceType device) {
  if (!is_ours(tensor)) return tensor;
  const at::Tensor result =
      at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options().device(device));
  return device == c10::kMeta ? result : result.zero_();
}

/// The results' shapes and types, by tensors without data; where torch knows them by these not at
/// all, by zeros.
std::vector<c10::IValue> shapes_of(const c10::OperatorHandle& operation,
                                   const std::vector<c10::IValue>& given) {
  const at::AutoDispatchBelowADInplaceOrView below;
  const at::DisableRecordFunctionGuard unseen;
  const bool has_meta = operation.hasKernelForDispatchKey(c10::DispatchKey::Meta);
  const c10::DeviceType device = has_meta ? c10::kMeta : c10::kCPU;
  std::vector<c10::IValue> arguments;
  for (const c10::IValue& value : given) {
    if (value.isTensor()) {
      arguments.emplace_back(stand_for(value.toTensor(), device));
    } else if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& one : value.toTensorVector()) list.push_back(stand_for(one, device));
      arguments.emplace_back(std::move(list));
    } else if (value.isDevice()) {
      arguments.emplace_back(c10::Device(device));
    } else {
      arguments.push_back(value);
    }
  }
  if (!has_meta) return results_of(operation, std::move(arguments), std::nullopt);
  torch::jit::Stack stack = std::move(arguments);
  operation.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::Meta), &stack);
  return stack;
}

/// Drawn numbers are late in graphs alone: tests compare streams that run in other orders.
bool may_run_late(const c10::OperatorHandle& operation, const std::vector<c10::IValue>& given,
                  c10::Device device) {
  if (operation.hasTag(at::Tag::nondeterministic_seeded) &&
      !is_captured(current_stream(device.index()))) {
    return false;
  }
  if (operation.hasTag(at::Tag::dynamic_output_shape)) return false;
  if (operation.hasTag(at::Tag::data_dependent_output)) return false;
  if (makes_the_host_wait(operation.schema().name(), given)) return false;
  const auto is_mixed = [](const c10::IValue& value) {
    if (!value.isTensorList()) return value.isOptionalTensorList();
    return !std::ranges::all_of(value.toTensorVector(), is_ours);
  };
  if (std::ranges::any_of(given, is_mixed)) return false;
  return std::ranges::all_of(operation.schema().returns(), [](const c10::Argument& result) {
    return result.type()->isSubtypeOf(*c10::TensorType::get());
  });
}

/// The argument that a result is.
size_t argument_of(const c10::FunctionSchema& schema, const c10::AliasInfo& alias) {
  const auto& parameters = schema.arguments();
  const auto target = std::ranges::find_if(parameters, [&](const c10::Argument& parameter) {
    return parameter.alias_info() != nullptr && *parameter.alias_info() == alias;
  });
  return static_cast<size_t>(target - parameters.begin());
}

/// Whether it was enqueued; then its results are on the stack.
bool runs_late(const c10::OperatorHandle& operation, const std::vector<c10::IValue>& given,
               c10::Device device, torch::jit::Stack* stack) {
  if (!may_run_late(operation, given, device)) return false;
  const std::vector<c10::IValue> shapes = shapes_of(operation, given);
  const c10::FunctionSchema& schema = operation.schema();
  std::vector<std::optional<DeviceElements>> targets;
  std::vector<c10::IValue> results;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const at::Tensor shape = shapes[i].toTensor();
    const c10::AliasInfo* const alias = schema.returns()[i].alias_info();
    at::Tensor result;
    if (alias != nullptr) {
      if (!alias->isWrite()) return false;
      result = given[argument_of(schema, *alias)].toTensor();
      if (result.sizes() != shape.sizes()) resize(result, shape.sizes(), shape.strides());
    } else if (shape.defined()) {
      result = empty_strided(shape.sizes(), shape.strides(), shape.scalar_type(), device);
    }
    targets.push_back(result.defined() ? std::optional(DeviceElements(result)) : std::nullopt);
    results.emplace_back(result);
  }
  // Of an operation that changes what it does not return, nobody tells the sizes.
  if (results.empty()) return false;
  count_operation(schema.name(), bytes_of(given) + bytes_of(results));
  std::vector<LaterArgument> later(given.begin(), given.end());
  const auto generator = generator_of(operation, given, device);
  enqueue(current_stream(device.index()), [operation, later, targets, generator] {
    std::vector<c10::IValue> arguments;
    for (const LaterArgument& argument : later) arguments.push_back(argument.now());
    const auto computed = results_of(operation, std::move(arguments), generator);
    for (size_t i = 0; i < targets.size(); ++i) {
      const at::Tensor result = computed[i].toTensor();
      if (targets[i] && result.defined()) targets[i]->fill(result);
    }
  });
  torch::jit::drop(*stack, given.size());
  for (c10::IValue& result : results) stack->push_back(std::move(result));
  return true;
}

void run_by_host(const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
  const c10::FunctionSchema& schema = operation.schema();
  const std::string& name = schema.name();
  TORCH_CHECK_NOT_IMPLEMENTED(name.starts_with("aten::"), "Could not run '", name,
                              "' with arguments from the 'stand_in' backend");
  const std::vector<c10::IValue> given = torch::jit::last(*stack, schema.arguments().size()).vec();
  const c10::Device device = CalledDevice(name, given).device();
  const c10::DeviceGuard guard(device);
  if (runs_late(operation, given, device, stack)) return;
  if (makes_the_host_wait(name, given)) count_wait(name);
  std::vector<c10::IValue> arguments;
  {
    const Access access;  // once for all
    for (const c10::IValue& value : given) arguments.push_back(on_host(value));
  }
  const std::vector<c10::IValue> results =
      results_of(operation, arguments, generator_of(operation, given, device));

  count_operation(name, bytes_of(given) + bytes_of(results));
  torch::jit::drop(*stack, given.size());
  for (size_t i = 0; i < given.size(); ++i) {
    if (is_written(schema.arguments()[i].alias_info())) write_back(given[i], arguments[i]);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const c10::AliasInfo* const alias = schema.returns()[i].alias_info();
    TORCH_CHECK(alias == nullptr || alias->isWrite(), "stand_in: ", name, " makes a view");
    if (alias == nullptr) {
      stack->push_back(on_device(results[i], device));
      continue;
    }
    stack->push_back(given[argument_of(schema, *alias)]);
  }
}

}  // namespace

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&run_by_host>());
}

/// Those too that torch has other code for, on devices without kernels of their own: a GPU has its
/// own for them.
void register_host_operations(torch::Library& library) {
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    const auto operation = dispatcher.findOp(name);
    if (!operation || !operation->hasSchema() || !name.name.starts_with("aten::")) continue;
    const auto has = [&](c10::DispatchKey key) { return operation->hasKernelForDispatchKey(key); };
    if (!has(c10::DispatchKey::CPU) || has(c10::DispatchKey::PrivateUse1)) continue;
    if (has(c10::DispatchKey::CompositeExplicitAutograd) ||
        has(c10::DispatchKey::CompositeExplicitAutogradNonFunctional) ||
        has(c10::DispatchKey::CompositeImplicitAutograd)) {
      library.impl(c10::toString(name).c_str(),
                   torch::CppFunction::makeFromBoxedFunction<&run_by_host>());
    }
  }
  for (const char* name : {"convolution_overrideable", "convolution_backward_overrideable"}) {
    library.impl(name, torch::CppFunction::makeFromBoxedFunction<&run_by_host>());
  }
}

}  // namespace fewbit::stand_in
