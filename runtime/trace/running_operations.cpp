// Who saves? A node takes its sequence number, a counter of its thread, when its operation starts,
// and saves before another node is made: the newest number is the saver's. Its name comes with the
// tensors that lead to it: outputs of an operation that ends, inputs of one that starts (which show
// custom functions too, since these are not operations of the dispatcher).
#include "trace/running_operations.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <ATen/SequenceNumber.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>
#include <c10/util/SmallVector.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include "text/names.hpp"
#include "trace/python_state.hpp"

namespace fewbit::session {
namespace {

// A tensor among the arguments.
struct Input {
  const void* address;
  std::int64_t offset;  // into its storage
  int argument;
};

// An operation that is running; they nest. One is made for every call: without memory of its own
// but where somebody hears of the call.
struct Operation : at::ObserverContext {
  const at::RecordFunction* record = nullptr;
  const Operation* outer = nullptr;
  std::string_view name;  // the record's
  c10::SmallVector<Input, 5> inputs;
  Addresses parameters;          // of those of them that are some
  std::uint64_t first_node = 0;  // the number of the node that it makes first
  std::shared_ptr<const CallNote> note;
  std::vector<c10::IValue> arguments;  // where the listener holds them
};

struct Following {
  OperationListener* listener = nullptr;  // null where nobody follows
  const Operation* running = nullptr;
  at::CallbackHandle callback = at::INVALID_CALLBACK_HANDLE;
};

Following& this_thread() {
  static thread_local Following following;
  return following;
}

NodeKey key_of(const torch::autograd::Node& node) {
  return {node.thread_id(), node.sequence_nr()};
}

// Of a tensor that torch.compile traces the offset may be symbolic.
std::int64_t offset_of(const at::Tensor& tensor) {
  const bool is_known = !tensor.unsafeGetTensorImpl()->has_symbolic_sizes_strides();
  return is_known && tensor.has_storage() ? tensor.storage_offset() : 0;
}

template <class Visit>
void for_each_tensor(const c10::IValue& value, const Visit& visit) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) visit(value.toTensor());
  } else if (value.isList()) {
    for (const c10::IValue& element : value.toListRef()) for_each_tensor(element, visit);
  }
}

// What a view shows; else the tensor.
const at::TensorBase& root_of(const at::Tensor& tensor) {
  const auto* meta = torch::autograd::impl::get_autograd_meta(tensor);
  return meta != nullptr && meta->is_view_ && tensor.is_view() ? tensor._base() : tensor;
}

// The unsafe form makes no new node for a view that was changed: numbers stay as they are.
torch::autograd::Node* node_of(const at::TensorBase& tensor) {
  const auto* meta = torch::autograd::impl::get_autograd_meta(tensor);
  return meta == nullptr ? nullptr : meta->grad_fn_.get();
}

bool is_parameter(const at::TensorBase& root) {
  const auto* meta = torch::autograd::impl::get_autograd_meta(root);
  return meta != nullptr && meta->requires_grad_ && meta->grad_fn_ == nullptr;
}

// What its parts hold, or its elements where it has no parts.
std::int64_t bytes_without_storage(const at::Tensor& tensor) {
  const auto size = [](const at::Tensor& part) {
    return static_cast<std::int64_t>(part.storage().nbytes());
  };
  if (tensor.layout() == at::kSparse) return size(tensor._indices()) + size(tensor._values());
  if (tensor.layout() == at::kSparseCsr) {
    return size(tensor.crow_indices()) + size(tensor.col_indices()) + size(tensor.values());
  }
  return tensor.numel() * static_cast<std::int64_t>(tensor.element_size());
}

void tell_name(const at::Tensor& tensor, OperationListener& listener) {
  const torch::autograd::Node* node = node_of(tensor);
  if (node != nullptr) listener.name_node(key_of(*node), node->name());
}

// Of the innermost that runs of which there is any, or null.
std::shared_ptr<const CallNote> running_note() {
  const Operation* operation = this_thread().running;
  while (operation != nullptr && operation->note == nullptr) operation = operation->outer;
  return operation == nullptr ? nullptr : operation->note;
}

// Without numbers, a subclass of Python's, or in a transform of functorch.
bool is_foreign(const at::Tensor& tensor) {
  constexpr c10::DispatchKeySet kForeign(
      {c10::DispatchKey::Python, c10::DispatchKey::FuncTorchBatched,
       c10::DispatchKey::FuncTorchGradWrapper, c10::DispatchKey::Functionalize});
  return tensor.is_meta() || tensor.key_set().has_any(kForeign);
}

std::unique_ptr<Operation> started(const at::RecordFunction& function, Following& thread) {
  auto operation = std::make_unique<Operation>();
  operation->record = &function;
  operation->outer = thread.running;
  operation->name = function.name();
  operation->first_node = at::sequence_number::peek();
  OperationListener& listener = *thread.listener;
  const bool hears_of_nodes = listener.hears_of_nodes();
  int argument = 0;
  bool is_ours = true;
  for (const c10::IValue& input : function.inputs()) {
    for_each_tensor(input, [&](const at::Tensor& tensor) {
      operation->inputs.push_back({address_of(tensor), offset_of(tensor), argument});
      if (is_parameter(root_of(tensor))) operation->parameters.push_back(address_of(tensor));
      if (hears_of_nodes) tell_name(tensor, listener);
      is_ours = is_ours && !is_foreign(tensor);
    });
    ++argument;
  }
  if (!is_ours) return operation;
  if (hears_of_nodes) operation->note = listener.note(operation->name, function.inputs());
  if (listener.holds(operation->name)) {
    operation->arguments.assign(function.inputs().begin(), function.inputs().end());
    listener.start_call({operation->name, operation->arguments, {}});
  }
  return operation;
}

// Inside of an operation that autograd knows, or in inference mode: nothing is saved there.
bool is_below_autograd() {
  return c10::impl::tls_local_dispatch_key_set().excluded_.has(
      c10::DispatchKey::AutogradFunctionality);
}

std::unique_ptr<at::ObserverContext> operation_starts(const at::RecordFunction& function) {
  Following& thread = this_thread();
  // libtorch hands the callback on to threads that work for this one.
  if (thread.listener == nullptr || is_below_autograd() || is_traced()) return nullptr;
  // Where such a thread follows operations itself it has the callback twice.
  if (thread.running != nullptr && thread.running->record == &function) return nullptr;
  if (!thread.listener->listens()) {
    stop_following_operations();
    return nullptr;
  }
  try {
    std::unique_ptr<Operation> operation = started(function, thread);
    thread.running = operation.get();
    return operation;
  } catch (...) {
    thread.listener->keep_failure(std::current_exception());
    return nullptr;
  }
}

void operation_ends(const at::RecordFunction& function, at::ObserverContext* context) {
  Following& thread = this_thread();
  if (context == nullptr || thread.running != context) return;
  const Operation& operation = *thread.running;
  thread.running = operation.outer;
  // Null once nobody follows an operation to its end.
  OperationListener* const listener = thread.listener;
  if (listener == nullptr) return;
  try {
    if (listener->hears_of_nodes()) {
      for (const c10::IValue& output : function.outputs()) {
        for_each_tensor(output, [&](const at::Tensor& tensor) { tell_name(tensor, *listener); });
      }
    }
    if (operation.arguments.empty()) return;
    listener->end_call({operation.name, operation.arguments, function.outputs()});
  } catch (...) {
    listener->keep_failure(std::current_exception());
  }
}

// Of the operation that it is; -1: none. Arguments may share memory, as parts of one projection do.
int argument_of(const Operation& operation, const at::Tensor& tensor) {
  const void* address = address_of(tensor);
  int found = -1;
  for (const Input& input : operation.inputs) {
    if (input.address != address) continue;
    if (input.offset == offset_of(tensor)) return input.argument;
    if (found < 0) found = input.argument;
  }
  return found;
}

// Whose gradient waits for a forward that runs again; of a backward pass inside of that the nodes
// are others.
thread_local const torch::autograd::Node* waiting = nullptr;

}  // namespace

bool is_in_place(std::string_view operation) {
  return operation.ends_with('_') && !operation.ends_with("__");
}

Memory memory_of(const at::Tensor& tensor) {
  if (tensor.has_storage()) {
    const at::Storage& storage = tensor.storage();
    return {storage.getWeakStorageImpl(), static_cast<std::int64_t>(storage.nbytes())};
  }
  using Weak = c10::weak_intrusive_ptr<at::TensorImpl, c10::UndefinedTensorImpl>;
  return {Weak(tensor.getIntrusivePtr()), bytes_without_storage(tensor)};
}

bool takes(const RecordedCall& call, const void* memory) {
  return takes_any(call, [&](const at::Tensor& tensor) { return address_of(tensor) == memory; });
}

bool takes_any(const RecordedCall& call, const std::function<bool(const at::Tensor&)>& is_one) {
  bool found = false;
  for (const c10::IValue& argument : call.arguments) {
    for_each_tensor(argument, [&](const at::Tensor& tensor) { found |= is_one(tensor); });
  }
  return found;
}

void start_following_operations(OperationListener& listener) {
  Following& thread = this_thread();
  if (std::exchange(thread.listener, &listener) != nullptr) return;
  thread.callback =
      at::addThreadLocalCallback(at::RecordFunctionCallback(operation_starts, operation_ends)
                                     .needsInputs(true)
                                     .needsOutputs(true)
                                     .scopes({at::RecordScope::FUNCTION}));
}

void stop_following_operations() noexcept {
  Following& thread = this_thread();
  if (std::exchange(thread.listener, nullptr) != nullptr) at::removeCallback(thread.callback);
}

SaveEvent describe_save(const at::Tensor& tensor) {
  const Following& thread = this_thread();
  SaveEvent event;
  event.memory = memory_of(tensor);
  event.node = {at::RecordFunction::currentThreadId(), at::sequence_number::peek() - 1};
  SavedTensor& facts = event.facts;
  facts.operation = thread.running != nullptr ? thread.running->name : "custom function";
  if (thread.running != nullptr) {
    event.argument = argument_of(*thread.running, tensor);
    event.parameters = thread.running->parameters;
    if (!thread.running->arguments.empty()) event.arguments = &thread.running->arguments;
    if (thread.running->outer != nullptr) event.caller = thread.running->outer->name;
    // In place it may make further nodes before it saves.
    if (is_in_place(thread.running->name)) event.node.sequence = thread.running->first_node;
    event.note = running_note();
  }
  facts.shape = shape_of(tensor);
  facts.dtype = tensor.scalar_type();
  facts.device = tensor.device();

  const at::TensorBase& root = root_of(tensor);
  const torch::autograd::Node* maker = node_of(root);
  if (is_parameter(root)) {
    facts.parameter = true;
    facts.maker = SavedTensor::kParameter;
    return event;
  }
  if (maker == nullptr) maker = node_of(tensor);
  if (maker != nullptr) {
    event.maker = key_of(*maker);
    facts.maker = maker->name();
    // In place on a view the maker is the base's.
    facts.is_output =
        event.maker == event.node || (event.argument == 0 && is_in_place(facts.operation));
    if (thread.listener->hears_of_nodes()) thread.listener->name_node(event.maker, facts.maker);
  } else if (thread.running != nullptr && event.argument < 0) {
    event.maker = event.node;
  } else {
    facts.maker = SavedTensor::kNoGradient;
  }
  return event;
}

bool is_in_backward() {
  return torch::autograd::get_current_node().get() != waiting;
}

ForwardAgain::ForwardAgain() : before_(waiting) {
  waiting = torch::autograd::get_current_node().get();
}

ForwardAgain::~ForwardAgain() {
  waiting = before_;
}

}  // namespace fewbit::session
