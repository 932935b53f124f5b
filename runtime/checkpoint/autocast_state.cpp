#include "checkpoint/autocast_state.hpp"

#include <cstddef>

#include <ATen/autocast_mode.h>

namespace fewbit::session {

AutocastState AutocastState::of_this_thread() {
  AutocastState state{};
  for (size_t i = 0; i < kDevices.size(); ++i) {
    state.devices[i] = {at::autocast::is_autocast_enabled(kDevices[i]),
                        at::autocast::get_autocast_dtype(kDevices[i])};
  }
  state.keeps_casts = at::autocast::is_autocast_cache_enabled();
  return state;
}

void AutocastState::set() const {
  for (size_t i = 0; i < kDevices.size(); ++i) {
    at::autocast::set_autocast_enabled(kDevices[i], devices[i].is_enabled);
    at::autocast::set_autocast_dtype(kDevices[i], devices[i].type);
  }
  at::autocast::set_autocast_cache_enabled(keeps_casts);
}

// Casts are kept by tensor alone: of another type they would be wrong, and after the guard nobody
// would clear them before the weights change.
AutocastGuard::AutocastGuard(const AutocastState& state)
    : before_(AutocastState::of_this_thread()), is_other_(before_ != state) {
  if (!is_other_) return;
  at::autocast::clear_cache();
  state.set();
}

AutocastGuard::~AutocastGuard() {
  if (!is_other_) return;
  at::autocast::clear_cache();
  before_.set();
}

}  // namespace fewbit::session
