#pragma once

#include <mutex>
#include <vector>

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

namespace fewbit::ops {

/// States of torch's default generators at one moment.
class RandomStates {
 public:
  RandomStates() = default;
  /// Of the CPU's and those of the devices where tensors lie, now.
  explicit RandomStates(at::TensorList tensors);

  /// Leaves those generators out that are still in that state: nothing was drawn from them.
  void forget_unmoved();
  bool empty() const { return states_.empty(); }
  /// Of other states another, but for one in 2^64.
  size_t fingerprint() const;
  /// Of the same generators, now.
  RandomStates now() const;
  void set() const;

 private:
  struct State {
    at::Generator generator;
    at::Tensor bytes;
  };

  void add(at::Device device);

  std::vector<State> states_;
};

/// Held while numbers are drawn that are to be drawn again: no guard below is there meanwhile.
std::unique_lock<std::recursive_mutex> random_turn();

/// Generators go on from states for its life, and from where they were afterwards. Of all threads
/// one has such a guard at a time; draws of others meanwhile are drawn from the same numbers.
class RandomStatesGuard {
 public:
  explicit RandomStatesGuard(const RandomStates& states);
  ~RandomStatesGuard();
  RandomStatesGuard(const RandomStatesGuard&) = delete;
  RandomStatesGuard& operator=(const RandomStatesGuard&) = delete;

 private:
  std::unique_lock<std::recursive_mutex> lock_;
  RandomStates before_;
};

}  // namespace fewbit::ops
