#pragma once

#include <cstddef>

#include <ATen/SavedTensorHooks.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>

// What torch's Python side does in the calling thread. In a process without it: nothing.
namespace fewbit::session {

/// Pairs of torch.autograd.graph.saved_tensors_hooks that are open, as checkpoints open them.
inline std::size_t open_python_hooks() {
  return at::SavedTensorDefaultHooks::get_tls_state().stack.size();
}

/// Whether operations run on tensors without elements, to be recorded: by torch.compile,
/// torch.export, make_fx or a FakeTensorMode.
inline bool is_traced() {
  using Modes = c10::impl::TorchDispatchModeTLS;
  using Key = c10::impl::TorchDispatchModeKey;
  if (at::SavedTensorDefaultHooks::get_tls_state().is_tracing) return true;
  if (!Modes::any_modes_set()) return false;
  return Modes::get_mode(Key::FAKE).has_value() || Modes::get_mode(Key::PROXY).has_value() ||
         Modes::get_mode(Key::FUNCTIONAL).has_value();
}

}  // namespace fewbit::session
