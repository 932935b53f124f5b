#pragma once

#include <memory>

#include <torch/csrc/autograd/saved_variable_hooks.h>

namespace fewbit::session {

// Hooks for a tensor that the calling thread is about to save; null: it has none.
using MakeHooks = std::unique_ptr<torch::autograd::SavedVariableHooks> (*)();

// libtorch asks the process's default engine for the hooks of every tensor that autograd saves.
// Puts one of ours in the place of libtorch's own or Python's, which hands all else on to that one,
// until as many have left as took it. Throws c10::Error naming `who` where the process runs another
// engine.
void take_engine_place(const char* who, MakeHooks hooks);
void leave_engine_place();

}  // namespace fewbit::session
