// Who saves? A node takes its sequence number, a counter of its thread, when its operation starts,
// and saves before another node is made: the newest number is the saver's. Its name comes with the
// tensors that lead to it: outputs of an operation that ends, inputs of one that starts (which show
// custom functions too, since these are not operations of the dispatcher).
#include "session/saved_bytes_operations.hpp"

#include <algorithm>
#include <bit>

#include <ATen/SequenceNumber.h>
#include <ATen/core/List.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include "session/activation_call.hpp"

namespace fewbit::session {
namespace {

// An operation that is running; they nest.
struct Operation : at::ObserverContext {
  const Operation* outer = nullptr;
  std::string name;
  std::vector<const void*> inputs;  // where they lie
  std::uint64_t first_node = 0;     // the number of the node that it makes first
  std::shared_ptr<const SavedActivation> activation;
};

struct ThreadWatches {
  std::vector<std::shared_ptr<Ledger>> open;
  const Operation* running = nullptr;
  at::CallbackHandle callback = at::INVALID_CALLBACK_HANDLE;
};

ThreadWatches& this_thread() {
  static thread_local ThreadWatches watches;
  return watches;
}

NodeKey key_of(const torch::autograd::Node& node) {
  return {node.thread_id(), node.sequence_nr()};
}

const void* address_of(const at::Tensor& tensor) {
  return tensor.has_storage() ? static_cast<const void*>(tensor.storage().unsafeGetStorageImpl())
                              : tensor.unsafeGetTensorImpl();
}

template <class Visit>
void for_each_tensor(const c10::IValue& value, const Visit& visit) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) visit(value.toTensor());
  } else if (value.isList()) {
    for (const c10::IValue& element : value.toListRef()) for_each_tensor(element, visit);
  }
}

void learn_name(const at::Tensor& tensor) {
  // The unsafe form makes no new node for a view that was changed: numbers stay as they are.
  const torch::autograd::Node* node = torch::autograd::impl::grad_fn_unsafe(tensor);
  if (node == nullptr) return;
  const std::string name = node->name();
  for (const auto& ledger : this_thread().open) ledger->name_node(key_of(*node), name);
}

// What a call of this library keeps is in arguments that torch's own have not.
std::shared_ptr<const SavedActivation> activation_of(const std::string& operation,
                                                     Arguments arguments) {
  if (arguments.empty() || !arguments[0].isTensor()) return nullptr;
  const at::Tensor& x = arguments[0].toTensor();
  if (!x.defined()) return nullptr;
  SavedActivation activation;
  if (operation == "fewbit::activation") {
    if (arguments.size() != 8) return nullptr;  // an overload, which calls this one
    activation.function = arguments[1].toStringRef();
    activation.parameters = arguments[2].toDoubleVector();
    const auto levels = static_cast<std::uint64_t>(arguments[5].toListRef().size());
    activation.bits = static_cast<int>(std::bit_width(levels - 1));
  } else {
    const std::optional<ActivationCall> call = activation_call(operation, arguments);
    if (!call || call->obstacle != nullptr) return nullptr;
    activation.function = call->function;
    activation.parameters = call->parameters;
    activation.in_place = is_in_place(operation);
    activation.replaceable = reason_against(x, call->function) == nullptr;
  }
  activation.shape = shape_of(x);
  activation.elements = x.numel();
  activation.dtype = x.scalar_type();
  return std::make_shared<const SavedActivation>(std::move(activation));
}

// The innermost activation that runs, or null.
const Operation* running_activation() {
  const Operation* operation = this_thread().running;
  while (operation != nullptr && operation->activation == nullptr) operation = operation->outer;
  return operation;
}

std::unique_ptr<at::ObserverContext> operation_starts(const at::RecordFunction& function) {
  ThreadWatches& thread = this_thread();
  // libtorch hands the callback on to threads that work for this one.
  if (thread.open.empty()) return nullptr;
  auto operation = std::make_unique<Operation>();
  operation->outer = thread.running;
  operation->name = function.name();
  operation->first_node = at::sequence_number::peek();
  operation->activation = activation_of(operation->name, function.inputs());
  for (const c10::IValue& input : function.inputs()) {
    for_each_tensor(input, [&](const at::Tensor& tensor) {
      operation->inputs.push_back(address_of(tensor));
      learn_name(tensor);
    });
  }
  thread.running = operation.get();
  return operation;
}

void operation_ends(const at::RecordFunction& function, at::ObserverContext* context) {
  ThreadWatches& thread = this_thread();
  if (context == nullptr || thread.running != context) return;
  thread.running = thread.running->outer;
  for (const c10::IValue& output : function.outputs()) for_each_tensor(output, learn_name);
}

bool is_input(const Operation& operation, const at::Tensor& tensor) {
  return std::ranges::find(operation.inputs, address_of(tensor)) != operation.inputs.end();
}

}  // namespace

void open_watch(const std::shared_ptr<Ledger>& ledger) {
  ThreadWatches& thread = this_thread();
  thread.open.push_back(ledger);
  if (thread.callback != at::INVALID_CALLBACK_HANDLE) return;
  thread.callback =
      at::addThreadLocalCallback(at::RecordFunctionCallback(operation_starts, operation_ends)
                                     .needsInputs(true)
                                     .needsOutputs(true)
                                     .scopes({at::RecordScope::FUNCTION}));
}

void close_watch(const Ledger* ledger) noexcept {
  ThreadWatches& thread = this_thread();
  const auto last = std::ranges::find(thread.open.rbegin(), thread.open.rend(), ledger,
                                      [](const auto& open) { return open.get(); });
  if (last != thread.open.rend()) thread.open.erase(std::next(last).base());
  if (!thread.open.empty() || thread.callback == at::INVALID_CALLBACK_HANDLE) return;
  at::removeCallback(thread.callback);
  thread.callback = at::INVALID_CALLBACK_HANDLE;
}

const std::vector<std::shared_ptr<Ledger>>& open_watches() noexcept {
  return this_thread().open;
}

std::vector<std::int64_t> shape_of(const at::Tensor& tensor) {
  if (tensor.is_nested()) return {tensor.size(0), -1};
  return tensor.sizes().vec();
}

Packed describe(const at::Tensor& tensor) {
  const ThreadWatches& thread = this_thread();
  Packed packed;
  packed.memory = memory_of(tensor);
  packed.node = {at::RecordFunction::currentThreadId(), at::sequence_number::peek() - 1};
  SavedTensor& facts = packed.facts;
  facts.operation = thread.running != nullptr ? thread.running->name : "custom function";
  if (const Operation* operation = running_activation()) {
    // In place it may make further nodes before it saves.
    packed.node.sequence = operation->first_node;
    facts.activation = operation->activation;
  }
  facts.shape = shape_of(tensor);
  facts.dtype = tensor.scalar_type();
  facts.device = tensor.device();

  const at::Tensor root = tensor.is_view() ? at::Tensor(tensor._base()) : tensor;
  const torch::autograd::Node* maker = torch::autograd::impl::grad_fn_unsafe(root);
  if (maker == nullptr && root.requires_grad()) {
    facts.parameter = true;
    facts.maker = SavedTensor::kParameter;
    return packed;
  }
  if (maker == nullptr) maker = torch::autograd::impl::grad_fn_unsafe(tensor);
  if (maker != nullptr) {
    packed.maker = key_of(*maker);
    facts.maker = maker->name();
    // In place on a view the maker is the base's.
    facts.is_output =
        packed.maker == packed.node || (facts.activation != nullptr && facts.activation->in_place &&
                                        is_input(*thread.running, tensor));
    for (const auto& ledger : thread.open) ledger->name_node(packed.maker, facts.maker);
  } else if (thread.running != nullptr && !is_input(*thread.running, tensor)) {
    packed.maker = packed.node;
  } else {
    facts.maker = SavedTensor::kNoGradient;
  }
  return packed;
}

}  // namespace fewbit::session
