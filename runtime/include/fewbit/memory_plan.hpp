#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <torch/csrc/api/include/torch/ordered_dict.h>

#include "fewbit/compressor.hpp"

namespace fewbit {

/// How what one place of a model saves is kept until backward.
enum class Keep {
  exact,    ///< as autograd does
  coded,    ///< by the scheme's codecs
  rebuilt,  ///< computed again of other places' codes
  swapped   ///< exact, but out of the device's memory, as the option `swap` says
};

/// How each place of a model is to keep what it saves, so that all of it takes no more than a
/// number of bytes and the least time:
///
///   const auto plan = fewbit::plan_memory([&] { return model->forward(x); }, 500'000'000,
///                                         {.bits = 2}, model->named_parameters());
///   std::cout << plan.text();
///   fewbit::Compressor compressor({.bits = 2});
///   compressor.follow(plan);
struct MemoryPlan {
  struct Choice {
    Keep keep;
    int64_t bytes;   ///< in the device's memory until backward
    double seconds;  ///< that keeping and bringing back take more than exact, which is 0
  };

  struct Place {
    Compressor::Site site;        ///< as it is coded
    int bits = 0;                 ///< of an element that is coded; 0: by a codec that has none
    std::vector<Choice> choices;  ///< those that there are, coded first
    size_t chosen = 0;
    const Choice& choice() const { return choices[chosen]; }
  };

  /// What fewbit::checkpoint around a module would change: a program has to write that itself, and
  /// then to plan again.
  struct Checkpoint {
    std::string module;        ///< "encoder.layers.0"
    int64_t bytes = 0;         ///< that are kept less than by its places as chosen, at least; what
                               ///< no place keeps, as codes of activations, among them
    double seconds = 0.0;      ///< that it takes more than these
    bool is_proposed = false;  ///< it is cheaper than what the last bytes were bought for
  };

  int64_t budget = 0;          ///< bytes that were asked for
  int64_t exact_bytes = 0;     ///< of all that autograd keeps without fewbit
  int64_t other_bytes = 0;     ///< of what is none of the places
  double other_seconds = 0.0;  ///< that a scope takes, whatever is kept
  double step_seconds = 0.0;   ///< of forward and backward without fewbit
  std::vector<Place> places;   ///< in the order in which they were met
  std::vector<Checkpoint> checkpoints;

  int64_t bytes() const;   ///< of all that is kept
  double seconds() const;  ///< that it takes beyond keeping all of it
  bool fits() const { return bytes() <= budget; }
  /// Tables for a person.
  std::string text() const;
};

/// Runs `forward` some thirty times, most of them with a backward pass whose gradients are dropped;
/// the result may be of any shape. Times are the least of three; on CUDA the host waits for the
/// device at every tensor, so that what a stream does beside others counts in full. Codes have the
/// bits that the options give them on average, split by errors; a tensor may be rebuilt of other
/// codes where it errs at most a twentieth more than coded itself, whatever `derive` would say.
///
/// parameters: names modules for checkpoints, which end at the first number in a name.
///
/// A step that keeps to the plan is run, too, its bytes are counted, and where it shows something
/// else than was thought it is chosen anew. Where no choice fits, the one of fewest bytes. Throws
/// c10::Error for a negative budget and what a Compressor and its scopes throw; what the function
/// throws passes through.
MemoryPlan plan_memory(const std::function<at::Tensor()>& forward, int64_t bytes,
                       const CompressorOptions& options = {},
                       const torch::OrderedDict<std::string, at::Tensor>& parameters =
                           torch::OrderedDict<std::string, at::Tensor>());

}  // namespace fewbit
