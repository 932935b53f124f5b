#include "ops/random_states.hpp"

#include <set>
#include <string_view>
#include <utility>

#include <ATen/Context.h>
#include <c10/util/hash.h>

namespace fewbit::ops {

namespace {

at::Tensor state_of(at::Generator generator) {
  const std::lock_guard lock(generator.mutex());
  return generator.get_state();
}

std::recursive_mutex& whose_turn() {
  static std::recursive_mutex mutex;
  return mutex;
}

/// States are bytes in the memory of the CPU.
std::string_view text_of(const at::Tensor& bytes) {
  return {static_cast<const char*>(bytes.const_data_ptr()), bytes.nbytes()};
}

bool comes_before(at::Device a, at::Device b) {
  return std::pair(a.type(), a.index()) < std::pair(b.type(), b.index());
}

}  // namespace

std::unique_lock<std::recursive_mutex> random_turn() {
  return std::unique_lock(whose_turn());
}

RandomStates::RandomStates(at::TensorList tensors) {
  std::set<at::Device, decltype(comes_before)*> devices(comes_before);
  for (const at::Tensor& tensor : tensors) {
    if (!tensor.defined() || tensor.is_cpu() || tensor.is_meta()) continue;
    devices.insert(tensor.device());
  }
  add(at::kCPU);
  for (const at::Device device : devices) add(device);
}

void RandomStates::add(at::Device device) {
  const at::Generator& generator = at::globalContext().defaultGenerator(device);
  states_.push_back({generator, state_of(generator)});
}

void RandomStates::forget_unmoved() {
  std::erase_if(states_, [](const State& state) {
    const at::Tensor now = state_of(state.generator);
    return text_of(state.bytes) == text_of(now);
  });
}

size_t RandomStates::fingerprint() const {
  size_t all = states_.size();
  for (const State& state : states_) {
    all = c10::hash_combine(all, std::hash<std::string_view>()(text_of(state.bytes)));
  }
  return all;
}

RandomStates RandomStates::now() const {
  RandomStates states;
  for (const State& state : states_) {
    states.states_.push_back({state.generator, state_of(state.generator)});
  }
  return states;
}

void RandomStates::set() const {
  for (const auto& [generator, bytes] : states_) {
    at::Generator target = generator;
    const std::lock_guard lock(target.mutex());
    target.set_state(bytes);
  }
}

RandomStatesGuard::RandomStatesGuard(const RandomStates& states) {
  if (states.empty()) return;
  lock_ = random_turn();
  before_ = states.now();
  states.set();
}

RandomStatesGuard::~RandomStatesGuard() {
  before_.set();
}

}  // namespace fewbit::ops
