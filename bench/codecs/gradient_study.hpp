#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/codecs/draws.hpp"
#include "examples/support/page.hpp"
#include "examples/support/subject.hpp"
#include "fewbit/compressor.hpp"

namespace fewbit::bench {

/// A trained model and one batch: its exact gradient, and what is kept of it by which product.
struct TrainedSubject {
  std::string name;  ///< "transformer" or "cnn"
  examples::Subject subject;
  int64_t step;  ///< the batch's number
  std::vector<at::Tensor> exact;
};
TrainedSubject train_subject(const std::string& model, int64_t steps);

struct Coding {
  Scheme scheme;
  int bits;             ///< of every place
  int activation_bits;  ///< 0: linear layers and convolutions alone are coded, all else is exact
  bool exact_attention = false;  ///< where all else is coded
};

struct ParameterNoise {
  std::string name;
  double energy;  ///< of the exact gradient
  Draws draws;
  std::optional<double> predicted;  ///< noise from the codec's variance, where x is coded
};

struct GradientNoise {
  std::vector<ParameterNoise> parameters;
  ParameterNoise all;
};

/// Of so many forward and backward passes.
GradientNoise measure(const TrainedSubject& trained, const Coding& coding, int64_t draws);

struct GradientSheets {
  examples::Sheet ratios, layers, totals, parameters;
};
GradientSheets study_gradients(const std::vector<std::string>& models, int64_t steps,
                               int64_t draws);

}  // namespace fewbit::bench
