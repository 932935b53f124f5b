#include "ops/random_states.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include <ATen/Context.h>

namespace fewbit::ops {

namespace {

at::Tensor state_of(at::Generator generator) {
  const std::lock_guard lock(generator.mutex());
  return generator.get_state();
}

/// States are bytes in the memory of the CPU.
bool are_equal(const at::Tensor& one, const at::Tensor& other) {
  return one.nbytes() == other.nbytes() &&
         std::memcmp(one.const_data_ptr(), other.const_data_ptr(), one.nbytes()) == 0;
}

std::recursive_mutex& whose_turn() {
  static std::recursive_mutex mutex;
  return mutex;
}

}  // namespace

RandomStates::RandomStates(at::TensorList tensors) {
  std::set<at::DeviceIndex> devices;
  for (const at::Tensor& tensor : tensors) {
    if (tensor.defined() && tensor.is_cuda()) devices.insert(tensor.device().index());
  }
  add(at::kCPU);
  for (const at::DeviceIndex index : devices) add({at::kCUDA, index});
}

void RandomStates::add(at::Device device) {
  const at::Generator& generator = at::globalContext().defaultGenerator(device);
  states_.push_back({generator, state_of(generator)});
}

bool RandomStates::is_now(const State& state) {
  return are_equal(state.bytes, state_of(state.generator));
}

void RandomStates::forget_unmoved() {
  std::erase_if(states_, is_now);
}

bool RandomStates::are_now() const {
  return std::all_of(states_.begin(), states_.end(), is_now);
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

RandomStatesGuard::RandomStatesGuard(const RandomStates& states)
    : lock_(whose_turn(), std::defer_lock) {
  if (states.empty()) return;
  lock_.lock();
  before_ = states.now();
  states.set();
}

RandomStatesGuard::~RandomStatesGuard() {
  before_.set();
}

}  // namespace fewbit::ops
