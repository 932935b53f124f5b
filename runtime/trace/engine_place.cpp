// libtorch's own engine has no hooks, Python's has those of
// torch.autograd.graph.saved_tensors_hooks. Ours has the hooks of its users, and hands all else on
// to the engine that was there, so that worker threads and queues stay where they are.
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

// In whose place ours is.
std::atomic<Engine*> engine_below = nullptr;

Engine& below() {
  return *engine_below.load();
}

bool is_known(const Engine& engine) {
  const std::type_info& type = typeid(engine);
  // Its class is in a library that only Python loads.
  return type == typeid(Engine) ||
         c10::demangle(type.name()) == "torch::autograd::python::PythonEngine";
}

class SavedTensorEngine final : public Engine {
 public:
  torch::autograd::variable_list execute(const torch::autograd::edge_list& roots,
                                         const torch::autograd::variable_list& inputs,
                                         bool keep_graph, bool create_graph, bool accumulate_grad,
                                         const torch::autograd::edge_list& outputs) override {
    return below().execute(roots, inputs, keep_graph, create_graph, accumulate_grad, outputs);
  }

  c10::intrusive_ptr<at::ivalue::Future> execute_with_graph_task(
      const std::shared_ptr<torch::autograd::GraphTask>& graph_task,
      std::shared_ptr<torch::autograd::Node> graph_root,
      torch::autograd::InputBuffer&& input_buffer) override {
    return below().execute_with_graph_task(graph_task, std::move(graph_root),
                                           std::move(input_buffer));
  }

  std::unique_ptr<torch::autograd::AnomalyMetadata> make_anomaly_metadata() override {
    return below().make_anomaly_metadata();
  }

  std::unique_ptr<SavedVariableHooks> get_default_saved_variable_hooks() override {
    std::unique_ptr<SavedVariableHooks> hooks = make_hooks.load()();
    return hooks ? std::move(hooks) : below().get_default_saved_variable_hooks();
  }
};

Engine& our_engine() {
  static SavedTensorEngine* const engine =
      new SavedTensorEngine;  // engines outlive static destructors
  return *engine;
}

// The place of the process's engine, as long as any thread has users.
class EnginePlace {
 public:
  void take(const char* who, MakeHooks hooks) {
    const std::lock_guard lock(mutex_);
    Engine& engine = Engine::get_default_engine();
    if (&engine != &our_engine()) {
      TORCH_CHECK(is_known(engine), who, ": this process runs the autograd engine ",
                  c10::demangle(typeid(engine).name()), "; accepted: libtorch's own and Python's");
      make_hooks = hooks;
      engine_below = &engine;
      torch::autograd::set_default_engine_stub(&our_engine);
    }
    ++uses_;
  }

  void leave() {
    const std::lock_guard lock(mutex_);
    if (--uses_ > 0) return;
    // Another may have come meanwhile, as when Python's torch is imported.
    if (&Engine::get_default_engine() == &our_engine()) {
      torch::autograd::set_default_engine_stub(&below);
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
