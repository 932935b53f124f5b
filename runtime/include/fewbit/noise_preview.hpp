#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <torch/ordered_dict.h>

#include "fewbit/compressor.hpp"

namespace fewbit {

/// Noise that coding adds to gradients, for several averages of bits.
struct NoisePreview {
  struct Row {
    double bits;    ///< average of an element
    int64_t bytes;  ///< of all sites, in the last batch
    double added;   ///< mean squared error over the variance of exact gradients between batches
    double standard_error;  ///< of `added`, from the spread of the squared error between batches
  };
  std::vector<Row> rows;  ///< by rising bits

  /// Returns the fewest measured bits whose added noise is at most this share. Throws c10::Error
  /// where all add more.
  double fewest_bits(double noise) const;

  /// A table for a person.
  std::string text() const;
};

/// Measures the noise that coding adds to gradients, which tells how many bits are enough:
///
/// ```cpp
/// const std::vector<at::Tensor> batches = {at::randn({8, 64}), at::randn({8, 64})};
/// const auto noise = fewbit::preview_noise([&](int64_t i) { return model->forward(batches[i]); },
///                                          batches.size(), model->named_parameters());
/// std::cout << noise.text();
/// fewbit::Compressor compressor({.bits = noise.fewest_bits(0.05)});
/// ```
///
/// Gradients differ between batches. Training has this noise anyway, and twice the batch halves it.
/// Coding adds an error. An error of 0.05 of the variance between batches acts as if the batch were
/// 1 / 1.05 of its size.
///
/// Computes the gradient of each batch exactly and with each of `bits`. Before that each Compressor
/// takes five steps to measure its sites. Eight batches and five averages take 73 forward and
/// backward passes. Three copies of all gradients are held at a time. Parameters, their gradients
/// and torch's default generators end as they were; buffers such as running means advance. Dropout
/// draws the same mask in every pass of a batch.
///
/// loss: takes the number of a batch, from 0, and returns a scalar. batches: 2 or more, of the size
/// that training uses. parameters: those that require gradients count. bits: each as a
/// Compressor takes it, in place of the options'. Throws c10::Error for fewer batches, where no
/// parameter gets a gradient, and for options out of range.
NoisePreview preview_noise(const std::function<at::Tensor(int64_t batch)>& loss, int64_t batches,
                           const torch::OrderedDict<std::string, at::Tensor>& parameters,
                           const CompressorOptions& options = {},
                           std::vector<double> bits = {1.0, 1.5, 2.0, 3.0, 4.0});

}  // namespace fewbit
