// libtorch asks the default engine for the hooks of every tensor it saves; its own engine has none.
// Ours has them while a watch is open in the asking thread, and hands every backward pass on to
// libtorch's engine, so that worker threads and queues stay where they are.
#include "session/saved_bytes_engine.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <typeinfo>
#include <utility>
#include <vector>

#include <ATen/SavedTensorHooks.h>
#include <c10/util/Exception.h>
#include <c10/util/Type.h>
#include <torch/csrc/autograd/engine.h>

#include "session/saved_bytes_operations.hpp"

namespace fewbit::session {
namespace {

using torch::autograd::Engine;
using torch::autograd::SavedVariableHooks;

class KeepHooks final : public SavedVariableHooks {
 public:
  KeepHooks() = default;
  KeepHooks(const KeepHooks&) = delete;
  KeepHooks& operator=(const KeepHooks&) = delete;

  ~KeepHooks() override {
    for (const auto& [ledger, record] : records_) {
      if (const auto alive = ledger.lock()) alive->release(record);
    }
  }

  void call_pack_hook(const at::Tensor& tensor) override {
    version_ = tensor._version();
    const auto& ledgers = open_watches();
    const Packed packed = describe(tensor);
    for (std::size_t i = 0; i < ledgers.size(); ++i) {
      bool again = false;  // one meter, watched twice
      for (std::size_t j = 0; j < i; ++j) again = again || ledgers[j] == ledgers[i];
      if (!again) records_.emplace_back(ledgers[i], ledgers[i]->pack(packed));
    }
    // An operation that holds its own output would hold itself: without the graph, as autograd
    // does.
    kept_ = tensor.is_leaf() ? tensor : at::Tensor(tensor.tensor_data());
  }

  at::Tensor call_unpack_hook() override {
    TORCH_CHECK(kept_._version() == version_,
                "one of the variables needed for gradient computation has been modified by an "
                "inplace operation: ",
                kept_.toString(), " ", at::IntArrayRef(shape_of(kept_)), " is at version ",
                kept_._version(), "; expected version ", version_,
                " (saved under fewbit::SavedBytes)");
    return kept_;
  }

 private:
  at::Tensor kept_;
  std::int64_t version_ = 0;
  std::vector<std::pair<std::weak_ptr<Ledger>, std::uint64_t>> records_;
};

class MeteringEngine final : public Engine {
 public:
  torch::autograd::variable_list execute(const torch::autograd::edge_list& roots,
                                         const torch::autograd::variable_list& inputs,
                                         bool keep_graph, bool create_graph, bool accumulate_grad,
                                         const torch::autograd::edge_list& outputs) override {
    return get_base_engine().execute(roots, inputs, keep_graph, create_graph, accumulate_grad,
                                     outputs);
  }

  c10::intrusive_ptr<at::ivalue::Future> execute_with_graph_task(
      const std::shared_ptr<torch::autograd::GraphTask>& graph_task,
      std::shared_ptr<torch::autograd::Node> graph_root,
      torch::autograd::InputBuffer&& input_buffer) override {
    return get_base_engine().execute_with_graph_task(graph_task, std::move(graph_root),
                                                     std::move(input_buffer));
  }

  std::unique_ptr<SavedVariableHooks> get_default_saved_variable_hooks() override {
    if (open_watches().empty()) return nullptr;
    return std::make_unique<KeepHooks>();
  }
};

Engine& metering_engine() {
  static MeteringEngine* const engine = new MeteringEngine;  // engines outlive static destructors
  return *engine;
}

struct Uses {
  std::mutex mutex;
  std::size_t count = 0;
};

Uses& uses() {
  static Uses uses;
  return uses;
}

}  // namespace

MeteringEngineUse::MeteringEngineUse() {
  TORCH_CHECK(at::SavedTensorDefaultHooks::is_enabled(),
              "fewbit::SavedBytes::watch: hooks on saved tensors are disabled here, and the meter "
              "works by them: ",
              at::SavedTensorDefaultHooks::get_disabled_error_message().value_or(""));
  const std::lock_guard lock(uses().mutex);
  Engine& engine = Engine::get_default_engine();
  if (&engine != &metering_engine()) {
    const std::type_info& type = typeid(engine);
    TORCH_CHECK(type == typeid(Engine), "fewbit::SavedBytes::watch: this process runs the engine ",
                c10::demangle(type.name()),
                ", not libtorch's own; the meter would have to replace it and does not. In Python, "
                "torch.autograd.graph.saved_tensors_hooks shows what is saved.");
    torch::autograd::set_default_engine_stub(&metering_engine);
  }
  ++uses().count;
}

MeteringEngineUse::~MeteringEngineUse() {
  const std::lock_guard lock(uses().mutex);
  if (--uses().count > 0) return;
  // Python's may have come meanwhile.
  if (&Engine::get_default_engine() == &metering_engine()) {
    torch::autograd::set_default_engine_stub(&Engine::get_base_engine);
  }
}

}  // namespace fewbit::session
