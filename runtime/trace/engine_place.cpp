// libtorch's own engine has no hooks. Ours has them, and hands every backward pass on to libtorch's
// engine, so that worker threads and queues stay where they are.
#include "trace/engine_place.hpp"

#include <atomic>
#include <cstddef>
#include <mutex>
#include <typeinfo>
#include <utility>

#include <c10/util/Exception.h>
#include <c10/util/Type.h>
#include <torch/csrc/autograd/engine.h>

namespace fewbit::session {
namespace {

using torch::autograd::Engine;
using torch::autograd::SavedVariableHooks;

std::atomic<MakeHooks> make_hooks = nullptr;

class SavedTensorEngine final : public Engine {
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
    const MakeHooks hooks = make_hooks.load();
    return hooks == nullptr ? nullptr : hooks();
  }
};

Engine& our_engine() {
  static SavedTensorEngine* const engine =
      new SavedTensorEngine;  // engines outlive static destructors
  return *engine;
}

// The place of libtorch's engine, as long as any thread has users.
class EnginePlace {
 public:
  void take(const char* who, MakeHooks hooks) {
    const std::lock_guard lock(mutex_);
    Engine& engine = Engine::get_default_engine();
    if (&engine != &our_engine()) {
      const std::type_info& type = typeid(engine);
      TORCH_CHECK(type == typeid(Engine), who, ": this process runs the engine ",
                  c10::demangle(type.name()),
                  ", not libtorch's own; fewbit would have to replace it and does not. In Python, "
                  "torch.autograd.graph.saved_tensors_hooks shows what is saved.");
      make_hooks = hooks;
      torch::autograd::set_default_engine_stub(&our_engine);
    }
    ++uses_;
  }

  void leave() {
    const std::lock_guard lock(mutex_);
    if (--uses_ > 0) return;
    // Python's may have come meanwhile.
    if (&Engine::get_default_engine() == &our_engine()) {
      torch::autograd::set_default_engine_stub(&Engine::get_base_engine);
    }
  }

 private:
  std::mutex mutex_;
  std::size_t uses_ = 0;
};

EnginePlace& engine_place() {
  static EnginePlace place;
  return place;
}

}  // namespace

void take_engine_place(const char* who, MakeHooks hooks) {
  engine_place().take(who, hooks);
}

void leave_engine_place() {
  engine_place().leave();
}

}  // namespace fewbit::session
