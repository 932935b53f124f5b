#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <torch/ordered_dict.h>

#include "fewbit/compressor.hpp"

namespace fewbit {

/// The most bytes that a plan may take. What is not given is not limited.
struct MemoryBudget {
  std::optional<int64_t> kept_bytes = {};  ///< of all tensors that a forward saves for backward
  /// Held at once in forward and backward, beyond what is held when the step starts, as peak_bytes
  /// counts them (peak_bytes.hpp): new gradients too, parameters and optimizer state not.
  std::optional<int64_t> peak_bytes = {};
};

/// How each site of a model stores its tensor, so that a step stays within a budget of bytes and
/// takes the least time:
///
/// ```cpp
/// const auto plan = fewbit::plan_memory([&] { return model->forward(x); },
///                                       {.peak_bytes = 500'000'000}, {.bits = 2},
///                                       model->named_parameters());
/// std::cout << plan.text();
/// fewbit::Compressor compressor({.bits = 2});
/// compressor.follow(plan);
/// ```
struct MemoryPlan {
  struct Choice {
    Storage storage;
    int64_t bytes;   ///< in the device's memory until backward
    double seconds;  ///< of storing and restoring, beyond keeping the tensor exact
  };

  struct Site {
    Compressor::Site site;        ///< as it is coded
    int bits = 0;                 ///< of a coded element; 0: the codec has no fixed number
    std::vector<Choice> choices;  ///< those that are possible, coded first
    size_t chosen = 0;            ///< index into choices
    const Choice& choice() const { return choices[chosen]; }
  };

  /// What fewbit::checkpoint around a module would change. The program has to be changed for it;
  /// then plan again.
  struct Checkpoint {
    std::string module;  ///< "encoder.layers.0"
    /// Lower bound on the bytes saved relative to the chosen plan, tensors outside every site (such
    /// as codes of activations) included.
    int64_t bytes = 0;
    double seconds = 0.0;  ///< added to the step, relative to the chosen plan
    bool is_proposed =
        false;  ///< it saves memory at a lower time per byte than the last choice did
  };

  MemoryBudget budget;         ///< as requested
  int64_t exact_bytes = 0;     ///< of all saved tensors without fewbit
  int64_t exact_peak = 0;      ///< bytes of a step without fewbit
  int64_t forward_peak = 0;    ///< bytes, measured: the most of a forward that follows the plan
  int64_t step_peak = 0;       ///< the same of forward and backward
  int64_t other_bytes = 0;     ///< of saved tensors outside every site
  double other_seconds = 0.0;  ///< that a scope takes, whatever the choices
  double step_seconds = 0.0;   ///< of forward and backward without fewbit
  std::vector<Site> sites;     ///< in the order in which they were first seen
  std::vector<Checkpoint> checkpoints;

  int64_t bytes() const;   ///< of all saved tensors
  double seconds() const;  ///< added to the step
  bool fits() const;
  /// Tables for a person.
  std::string text() const;
};

/// Chooses the storage of every site for a budget of bytes.
///
/// ```cpp
/// const auto plan = fewbit::plan_memory([&] { return model->forward(x); },
///                                       {.kept_bytes = 500'000'000});
/// if (!plan.fits()) std::cout << plan.text();
/// ```
///
/// Runs `forward` about thirty times, up to eighty for a peak, with a backward pass whose gradients
/// are dropped; the result may have any shape. Times are the least of three; on CUDA the host waits
/// for the device at every tensor, so work that would overlap counts in full. Codes have the
/// options' bits on average, allocated by measured errors. A tensor may be recomputed where its
/// error is at most a twentieth above that of its own codes, whatever Compressor::recompute would
/// say.
///
/// The chosen plan is run once more, and its bytes and its peak are counted; where bytes differ
/// from the forecast it chooses anew. A peak includes that of the first step, which measures
/// errors. For a peak, plans of fewer and more kept bytes are run until one stays just below. Where
/// no choice fits, the plan has the fewest bytes or the lowest peak that was found.
///
/// parameters: names modules for checkpoints, which end at the first number in a name.
///
/// Throws c10::Error for a negative budget, while a torch profiler records this thread, and what a
/// Compressor and its scopes throw. What the function throws passes through.
MemoryPlan plan_memory(const std::function<at::Tensor()>& forward, const MemoryBudget& budget,
                       const CompressorOptions& options = {},
                       const torch::OrderedDict<std::string, at::Tensor>& parameters =
                           torch::OrderedDict<std::string, at::Tensor>());

}  // namespace fewbit
