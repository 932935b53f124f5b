#pragma once

#include <vector>

#include "examples/support/subject.hpp"

namespace fewbit::examples {

/// The exact gradients of many batches at one point of a training.
struct Reference {
  at::Tensor gradients;  ///< float32 [batches, parameters]
  at::Tensor mean;       ///< float64 [parameters]
  /// Adam's unit, per parameter: root mean square of its gradient over the batches.
  at::Tensor unit;
  double mean_norm = 0, noise = 0;            ///< |mean| and the root mean |g - mean|^2
  double adam_mean_norm = 0, adam_noise = 0;  ///< the same in Adam's units
};

Reference measure_exact(const Subject& subject, const Activate& activate, int64_t batches);

/// How the gradients by a few-bit derivative differ from the exact ones, same parameters and
/// batches; d = g_few - g_exact.
struct Fidelity {
  double bias = 0;    ///< |mean d| / |mean g|, what the noise of d adds to it taken off
  double floor = 0;   ///< the bias that noise alone would show with so many batches
  double noise = 0;   ///< spread of d from batch to batch, against that of g
  double cosine = 0;  ///< between the two mean gradients
  double adam_bias = 0, adam_floor = 0, adam_noise = 0;  ///< the same in Adam's units
};

Fidelity measure(const Subject& subject, const Reference& reference, const Activate& activate);

}  // namespace fewbit::examples
